// The source: each line with what became of it.

const SIGNS = { compiled: ['●', 'compiled'], aborted: ['✕', 'given up'], interpreted: ['·', 'interpreted, or never run'] };
const stateCounts = (file) => {
  const n = { compiled: 0, aborted: 0, interpreted: 0 };
  for (const l of file.lines) n[l.state]++;
  return n;
};
const sign = (state) => h('span', { class: `sign ${state}`, role: 'img', 'aria-label': SIGNS[state][1], title: SIGNS[state][1] }, SIGNS[state][0]);

// The files, those first that traces are made from, or were to be.
const fileOrder = files.map((file, i) => ({ i, n: stateCounts(file) }))
  .sort((a, b) => (b.n.compiled > 0) - (a.n.compiled > 0) || (b.n.aborted > 0) - (a.n.aborted > 0) || a.i - b.i)
  .map((f) => f.i);

// The instructions of a line, by function.
const lineCode = new Map();
function bytecodeOf(file, line) {
  if (!lineCode.has(file)) {
    const byLine = new Map();
    functions.forEach((f, number) => {
      if (f.file !== file) return;
      f.bytecode.forEach((b, pc) => {
        if (pc === 0) return;
        if (!byLine.has(b.line)) byLine.set(b.line, []);
        byLine.get(b.line).push({ number, pc, text: b.text });
      });
    });
    lineCode.set(file, byLine);
  }
  return lineCode.get(file).get(line) ?? [];
}

function abortWords(a) {
  const from = a.parent
    ? ['from ', a.parent.trace ? traceLink(a.parent.trace) : `trace ${a.parent.number}`, a.parent.exit === null ? ' behind a call' : ` exit ${a.parent.exit}`]
    : ['started at ', lineLink(a.start)];
  return [h('strong', null, a.reason), ' ', times(a.count), a.at ? [' at ', h('code', null, bytecodeAt(a.at))] : null, ', ', from];
}

function lineDetail(file, info) {
  const MANY = 40;
  const code = bytecodeOf(file, info.line);
  return h('div', { class: 'detail' },
    info.traces.length > 0 && h('div', null, 'In ', info.traces.slice(0, MANY).map((id, i) => [i ? ', ' : '', traceLink(id), ` (${fateWords(trace(id))})`]),
      info.traces.length > MANY && ` and ${info.traces.length - MANY} more`),
    info.aborts.length > 0 && ['Recordings given up here:', h('ul', null, info.aborts.slice(0, MANY).map((i) => h('li', null, abortWords(aborts[i]))))],
    info.state === 'interpreted' && h('div', null, 'No recording has come here: the line is interpreted, or never runs.'),
    code.length > 0 && [h('div', { class: 'faint' }, 'Bytecode'),
      h('pre', null, code.map((b) => `${String(b.pc).padStart(4, '0')}  ${b.text}`).join('\n'))]);
}

// The share of the samples that a line has.
function heatCell(file, number) {
  const share = shareOfLine(file, number);
  if (share === 0) return h('span');
  const strength = Math.round(Math.min(0.6, 0.1 + share) * 100);
  return h('span', { class: 'heatnumber', style: `--heat: ${strength}%`, title: `${percent(share)} of the samples` }, percent(share));
}

// The line of a file with the most samples.
const hottestLine = (file) => time?.lines.find((l) => l.file === file)?.line;

function sourceRow(file, number, text, info, lineId) {
  const row = h('div', { class: info ? `ln known ${info.state}` : 'ln', id: lineId });
  if (!info) {
    put(row, h('span', { class: 'number' }, String(number)), h('span'), h('span'), h('pre', null, text ?? ''));
    return row;
  }
  const MANY = 3;
  const chips = [
    info.aborts.length > 0 && h('span', { class: 'sign aborted', title: 'recordings were given up here' }, `✕${info.aborts.length}`),
    info.traces.slice(0, MANY).map((id) => traceLink(id, `#${nameOf(trace(id))}`)),
    info.traces.length > MANY && h('span', { class: 'faint' }, `+${info.traces.length - MANY}`),
  ];
  const button = h('button', {
    'aria-expanded': 'false',
    'aria-label': `Line ${number}, ${SIGNS[info.state][1]}: details`,
    onclick() {
      const open = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!open));
      if (open) row.nextElementSibling.remove();
      else row.after(lineDetail(file, info));
    },
  }, String(number));
  put(row, button, heatCell(file, number), sign(info.state), h('pre', null, text ?? ''), h('span', { class: 'chips' }, chips));
  return row;
}

function sourceView(main, [which, line]) {
  if (files.length === 0) {
    put(main, h('h2', null, 'Source'), h('p', { class: 'note' }, 'Nothing was loaded.'));
    return;
  }
  const at = Number(which ?? time?.lines[0]?.file ?? fileOrder[0]);
  const file = files[at];
  if (!file) return notFound(main, 'There is no such file.');
  const counts = stateCounts(file);
  const list = h('ul', { class: 'files', 'aria-label': 'Files' });
  lazily(list, fileOrder.length, (i) => {
    const f = fileOrder[i];
    const n = stateCounts(files[f]);
    const state = n.compiled ? 'compiled' : n.aborted ? 'aborted' : 'interpreted';
    return h('li', null, h('a', { href: `#source/${f}`, 'aria-current': f === at ? 'true' : null }, sign(state), files[f].name));
  }, 200, list);
  const known = new Map(file.lines.map((l) => [l.line, l]));
  const lines = linesOf(at);
  // Without a text there are only the lines that something is known of.
  const numbers = lines ? null : [...known.keys()].sort((a, b) => a - b);
  const length = lines ? lines.length : numbers.length;
  const text = h('div', { class: 'text', role: 'region', 'aria-label': file.name });
  put(main, 
    h('h2', null, file.name),
    h('div', { class: 'bar legend' }, Object.keys(SIGNS).map((s) => h('span', null, sign(s), `${SIGNS[s][1]}: ${count(counts[s], 'line')}`))),
    file.note && h('p', { class: 'note' }, `There is no text: ${file.note}. Lines are those of the bytecode.`),
    h('div', { class: 'source' }, list, text));
  const rows = lazily(text, length, (i) => {
    const number = lines ? i + 1 : numbers[i];
    return sourceRow(at, number, lines?.[i], known.get(number), `L${number}`);
  }, 400);
  if (line !== undefined) {
    const i = lines ? Number(line) - 1 : numbers.indexOf(Number(line));
    const row = rows.ensure(Math.max(i, 0));
    if (row) {
      row.classList.add('target');
      row.scrollIntoView({ block: 'center' });
      row.querySelector('button')?.click();
    }
  } else {
    // It opens where the time goes.
    const hot = hottestLine(at);
    const i = hot === undefined ? -1 : lines ? hot - 1 : numbers.indexOf(hot);
    if (i >= 0) rows.ensure(i)?.scrollIntoView({ block: 'center' });
  }
}
