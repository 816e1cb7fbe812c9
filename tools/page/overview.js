// The first page: where the time went, and why the program is not faster.

const STATES = ['compiled', 'interpreted', 'builtin', 'garbage collector', 'compiler', 'leaving traces'];
const percent = (share) => `${share >= 0.0995 ? Math.round(share * 100) : (share * 100).toFixed(1)}\u00a0%`;
const time = data.time && data.time.samples > 0 ? data.time : null;
// Samples by line of a file, and by trace.
const lineSamples = new Map((time?.lines ?? []).map((l) => [`${l.file}/${l.line}`, l]));
const traceSamples = new Map((time?.traces ?? []).map((t) => [t.trace, t]));
const shareOfLine = (file, line) => (lineSamples.get(`${file}/${line}`)?.samples ?? 0) / (time?.samples ?? 1);
const shareOfTrace = (id) => (traceSamples.get(id)?.samples ?? 0) / (time?.samples ?? 1);

function stateBar() {
  if (!time) return h('p', { class: 'note' }, 'No samples were taken, so there are no times: the program was too short, or the system has no timer.');
  const some = STATES.map((s) => [s, time.states[s] ?? 0]).filter((s) => s[1] > 0).sort((a, b) => b[1] - a[1]);
  const cls = (s) => `state-${s.replace(/ .*/, '')}`;
  return h('div', { class: 'states' },
    h('div', { class: 'statebar', 'aria-hidden': 'true' }, some.map(([s, n]) => h('span', { class: cls(s), style: `flex-grow: ${n}` }))),
    h('div', { class: 'legend' }, some.map(([s, n]) => h('span', null, h('i', { class: cls(s) }), `${s} ${percent(n / time.samples)}`)),
      h('span', null, `${count(time.samples, 'sample')}, one each ${(time.interval_us / 1000).toLocaleString('en')} ms of processor time`)));
}

function findingCard(f) {
  return h('li', { class: 'finding', 'data-kind': f.kind },
    h('div', { class: 'share' }, f.share === null ? times(f.count) : percent(f.share)),
    h('div', null,
      h('h3', null, f.title),
      h('p', null, f.text),
      f.advice && h('p', { class: 'advice' }, f.advice),
      h('p', { class: 'links' },
        f.place && [lineLink(f.place), ' '],
        f.trace && [traceLink(f.trace), f.exit !== null && ` exit ${f.exit}`],
        f.place && sourceLine(f.place) !== undefined && h('code', null, sourceLine(f.place).trim()))));
}

// Exits to the interpreter, the most frequent first, with the guards that failed.
function hotExits() {
  const MOST = 12;
  const all = traces.flatMap((t) => t.left.filter((x) => x.taken > 0).map((x) => ({ t, x })));
  all.sort((a, b) => b.x.taken - a.x.taken || a.t.id - b.t.id);
  if (all.length === 0) return null;
  const guardWords = (g) => [g.condition, ` failed ${times(g.failed)}`,
    g.seen.length > 0 && [' for ', g.seen.slice(0, 4).map((s, i) => [i ? ', ' : '', `${s.what} (${s.count.toLocaleString('en')})`])],
    g.others > 0 && ` and ${g.others.toLocaleString('en')} others`];
  const rows = all.slice(0, MOST).map(({ t, x }) => h('tr', null,
    h('td', { class: x.to ? 'n' : 'n hot' }, x.taken.toLocaleString('en')),
    h('td', null, traceLink(t.id), ` exit ${x.exit}`),
    h('td', null, lineLink(x.guards[0]?.place ?? t.start)),
    h('td', null, x.guards.length ? x.guards.slice(0, 3).map((g, i) => [i ? h('br') : null, guardWords(g)]) : h('span', { class: 'faint' }, 'end of the trace, or not noted')),
    h('td', null, x.to ? traceLink(x.to) : 'interpreter')));
  return [h('h3', null, 'Exits taken most'), h('div', { class: 'scroll' }, h('table', { 'aria-label': 'Exits taken most' },
    h('thead', null, h('tr', null, ['Times', 'Exit', 'At', 'The guard that failed, and for what', 'Now goes to'].map((x, i) => h('th', { class: i ? 'plain' : 'plain n', scope: 'col' }, x)))),
    h('tbody', null, rows)))];
}

function hotLines() {
  const MOST = 12;
  if (!time || time.lines.length === 0) return null;
  const most = time.lines[0].samples;
  const rows = time.lines.slice(0, MOST).map((l) => {
    const text = linesOf(l.file)?.[l.line - 1]?.trim() ?? '';
    const states = STATES.filter((s) => l.states[s]).sort((a, b) => l.states[b] - l.states[a]).map((s) => `${s} ${percent(l.states[s] / l.samples)}`);
    return h('tr', null,
      h('td', { class: 'n' }, percent(l.samples / time.samples)),
      h('td', { class: 'heatcell' }, h('span', { class: 'heat', style: `width: ${Math.max(2, (l.samples / most) * 100)}%` })),
      h('td', null, h('a', { href: `#source/${l.file}/${l.line}` }, `${baseName(files[l.file].name)}:${l.line}`)),
      h('td', null, h('code', null, text)),
      h('td', { class: 'faint' }, states.join(', ')));
  });
  return [h('h3', null, 'Hottest lines'), h('div', { class: 'scroll' }, h('table', { 'aria-label': 'Hottest lines' }, h('tbody', null, rows)))];
}

// The lines that allocate most, if that was counted.
function allocatingLines() {
  const MOST = 12;
  const { allocations } = data;
  if (!allocations || allocations.lines.length === 0) return null;
  const rows = allocations.lines.slice(0, MOST).map((l) => h('tr', null,
    h('td', { class: 'n' }, percent(l.bytes / allocations.bytes)),
    h('td', { class: 'n' }, bytes(l.bytes)),
    h('td', { class: 'n' }, l.allocations.toLocaleString('en')),
    h('td', null, h('a', { href: `#source/${l.file}/${l.line}` }, `${baseName(files[l.file].name)}:${l.line}`)),
    h('td', null, h('code', null, linesOf(l.file)?.[l.line - 1]?.trim() ?? ''))));
  return [h('h3', null, 'Lines that allocate most'), h('div', { class: 'scroll' }, h('table', { 'aria-label': 'Lines that allocate most' },
    h('thead', null, h('tr', null, ['Share', 'Bytes', 'Allocations', '', ''].map((x, i) => h('th', { class: i < 3 ? 'plain n' : 'plain', scope: 'col' }, x)))),
    h('tbody', null, rows)))];
}

// What happened when: a row of bars for each kind of event.
function timelineChart() {
  const { part_ms: part, moments } = data.timeline;
  if (moments.length < 2) return null;
  const kinds = [['compiled', 'traces compiled'], ['aborted', 'recordings given up'], ['exits', 'exits'], ['collections', 'collections'], ['flushes', 'flushes']]
    .filter(([k]) => moments.some((m) => m[k] > 0));
  const [width, height, left] = [760, 26, 150];
  const step = (width - left) / moments.length;
  const chart = h('svg:svg', { viewBox: `0 0 ${width} ${kinds.length * height + 18}`, class: 'timeline', role: 'img',
    'aria-label': `Events over ${(part * moments.length / 1000).toFixed(2)} seconds` },
  kinds.map(([k, words], row) => {
    const top = Math.max(...moments.map((m) => m[k]));
    const y = (row + 1) * height;
    return h('svg:g', null, h('svg:text', { x: 0, y: y - 6, class: 'small' }, words),
      moments.map((m, i) => m[k] > 0 && h('svg:rect', { x: left + i * step, width: Math.max(1, step - 0.5), y: y - Math.max(1, (m[k] / top) * (height - 6)), height: Math.max(1, (m[k] / top) * (height - 6)), class: `bar-${k}` },
        h('svg:title', null, `${words}: ${m[k]} at ${Math.round(i * part)} ms`))));
  }),
  h('svg:text', { x: left, y: kinds.length * height + 14, class: 'small' }, '0'),
  h('svg:text', { x: width, y: kinds.length * height + 14, class: 'small', 'text-anchor': 'end' }, `${(part * moments.length / 1000).toFixed(2)} s`));
  return [h('h3', null, 'What happened when'), chart];
}

// This run beside an earlier one, by line.
function comparison() {
  const { compared } = data;
  if (!compared) return null;
  const ms = (n) => n.toLocaleString('en', { maximumFractionDigits: 0 });
  const change = (before, now, words) => h('td', { class: now > before ? 'n worse' : now < before ? 'n better' : 'n' }, before === now ? words(now) : `${words(before)} → ${words(now)}`);
  const whole = (n) => n.toLocaleString('en');
  const counted = compared.before.bytes !== undefined && compared.now.bytes !== undefined;
  const columns = [['Milliseconds', 'ms', ms], ['Traces', 'traces', whole], ['Exits', 'exits', whole],
    ...(counted ? [['Allocations', 'allocations', whole], ['Bytes', 'bytes', bytes]] : [])];
  const row = (name, text, { before, now }) => h('tr', null, h('td', null, name), columns.map(([, key, words]) => change(before[key] ?? 0, now[key] ?? 0, words)), h('td', null, h('code', null, text)));
  const place = (l) => {
    const file = files.findIndex((f) => f.name === l.file);
    const number = l.line === null ? `was ${l.before_line}` : l.before_line === null ? `${l.line}, new` : l.line === l.before_line ? `${l.line}` : `${l.line}, was ${l.before_line}`;
    const words = `${baseName(l.file)}:${number}`;
    return l.line === null || file < 0 ? words : h('a', { href: `#source/${file}/${l.line}` }, words);
  };
  return [h('h3', null, 'Before and now'), h('div', { class: 'scroll' }, h('table', { 'aria-label': 'Before and now' },
    h('thead', null, h('tr', null, ['', ...columns.map((c) => c[0]), ''].map((x, i) => h('th', { class: i && i <= columns.length ? 'plain n' : 'plain', scope: 'col' }, x)))),
    h('tbody', null, row('in all', '', compared), compared.lines.slice(0, 20).map((l) => row(place(l), l.text, l)))))];
}

function overviewView(main) {
  const { findings } = data;
  put(main, h('h2', null, 'Why it is not faster'), stateBar(), comparison(),
    findings.length
      ? h('ol', { class: 'findings' }, findings.slice(0, 8).map(findingCard))
      : h('p', { class: 'note' }, 'Nothing stands out: what is hot is compiled, and is seldom left.'),
    findings.length > 8 && h('details', null, h('summary', null, count(findings.length - 8, 'more finding')), h('ol', { class: 'findings' }, findings.slice(8).map(findingCard))),
    hotLines(), allocatingLines(), hotExits(), timelineChart());
}
