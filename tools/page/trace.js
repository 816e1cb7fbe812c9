// One trace: what it costs, its exits, and its bytecode, IR and machine code side by side.

// The rows of all panes, by the place that they were recorded for.
let rowsByPlace = new Map();
let pinned = null;

function highlight(place) {
  for (const row of document.querySelectorAll('.row.same')) row.classList.remove('same');
  for (const row of rowsByPlace.get(place) ?? []) row.classList.add('same');
}

function paneRow(kind, key, text, place) {
  const row = h('div', { class: `row ${kind}` }, h('span', { class: 'k' }, key), h('span', { class: 'v' }, text));
  if (place !== undefined && place !== null) {
    row.dataset.place = place;
    if (!rowsByPlace.has(place)) rowsByPlace.set(place, []);
    rowsByPlace.get(place).push(row);
    if (place === pinned) row.classList.add('same');
  }
  return row;
}

// Scrolls the other panes to what belongs to a row.
function follow(panes, mine, place) {
  for (const p of panes) {
    if (p === mine) continue;
    const i = p.items.findIndex((item) => item.place === place);
    if (i >= 0) p.rows.ensure(i).scrollIntoView({ block: 'nearest' });
  }
}

// A pane with rows. Arrow keys move in it, and the other panes follow.
function pane(title, extra, items, panes) {
  const rows = h('div', { class: 'rows', tabindex: 0, role: 'group', 'aria-label': title });
  const me = { items, element: h('section', { class: 'pane' }, h('h3', null, title, extra), rows) };
  me.rows = lazily(rows, items.length, (i) => items[i].make(), 400, rows);
  let current = -1;
  const select = (i) => {
    const row = me.rows.ensure(i);
    rows.querySelector('.current')?.classList.remove('current');
    row.classList.add('current');
    row.scrollIntoView({ block: 'nearest' });
    current = i;
    pinned = items[i].place ?? null;
    highlight(pinned);
    if (pinned !== null) follow(panes, me, pinned);
  };
  rows.addEventListener('keydown', (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[e.key];
    if (!step || items.length === 0) return;
    e.preventDefault();
    select(Math.min(items.length - 1, Math.max(0, current + step)));
  });
  rows.addEventListener('click', (e) => {
    const row = e.target.closest('.row');
    if (row && e.target.tagName !== 'A') select([...rows.children].indexOf(row));
  });
  rows.addEventListener('mouseover', (e) => {
    const place = e.target.closest('.row')?.dataset.place;
    highlight(place === undefined ? pinned : Number(place));
  });
  rows.addEventListener('mouseleave', () => highlight(pinned));
  panes.push(me);
  return me;
}

// The bytecode, below the lines of the source.
function bytecodeItems(code) {
  const items = [];
  let last = null;
  for (const b of code.bytecode) {
    const place = b.place === undefined ? null : code.places[b.place];
    const indent = '. '.repeat(b.depth);
    if (!place) {
      items.push({ make: () => paneRow('', '', `${indent}call of ${b.builtin}`) });
      continue;
    }
    if (last?.function !== place.function || last.line !== place.line) {
      const words = sourceLine(place)?.trim();
      items.push({ make: () => h('div', { class: 'row line' }, lineLink(place), ' ', h('span', { class: 'v' }, words ?? '')) });
    }
    last = place;
    items.push({ place: b.place, make: () => paneRow('', String(place.pc).padStart(4, '0'), indent + bytecodeAt(place), b.place) });
  }
  return items;
}

const irItems = (lines) => lines.map((l) => ({
  place: l.place,
  make: () => l.snapshot !== undefined
    ? paneRow('snap', `#${l.snapshot}`, l.text, l.place)
    : paneRow(`${l.saved ? 'saved' : ''} ${l.text.includes('-- LOOP --') ? 'head' : ''}`, l.ref ?? '', l.text, l.place),
}));

const machineItems = (code) => code.machine.map((m) => ({
  place: m.place,
  make: () => {
    const row = paneRow(`${m.head ? 'head' : ''} ${m.exit !== undefined ? 'out' : ''}`, `+${m.offset.toString(16).padStart(3, '0')}`, m.text, m.place);
    row.title = m.exit !== undefined ? `exit ${m.exit}` : m.ref ? `IR ${m.ref}` : '';
    return row;
  },
}));

// How often a guard failed, and for what.
const failedWords = (g) => g && h('span', { class: 'hot' }, ` failed ${times(g.failed)}`,
  g.seen.length > 0 && `: ${g.seen.map((s) => `${s.what} (${s.count.toLocaleString('en')})`).join(', ')}`);

function exitTable(t, code) {
  const used = new Map(t.left.map((x) => [x.exit, x]));
  const body = h('tbody');
  lazily(body, code.exits.length, (k) => {
    const e = code.exits[k];
    const x = used.get(k);
    const place = e.place === null ? null : code.places[e.place];
    const hot = x && x.taken > 0 && !x.to;
    return h('tr', { id: `exit-${k}` },
      h('td', { class: 'n' }, String(k)),
      h('td', { class: hot ? 'n hot' : 'n' }, x ? x.taken.toLocaleString('en') : '0'),
      h('td', null, x?.to ? traceLink(x.to) : 'interpreter'),
      h('td', null, lineLink(place), place && [' ', h('code', null, bytecodeAt(place))]),
      h('td', null, e.guards.map((g, i) => [i ? h('br') : null, g.condition, h('span', { class: 'faint' }, ` (${g.ref})`), failedWords(x?.guards.find((f) => f.ref === g.ref))])),
      h('td', { class: 'slots' }, e.slots));
  }, 100);
  const head = ['Exit', 'Times taken', 'Goes to', 'Goes on at', 'Is taken unless', 'Snapshot: slots that are stored'];
  return h('div', { class: 'scroll' }, h('table', { 'aria-label': 'Exits' },
    h('thead', null, h('tr', null, head.map((x, i) => h('th', { class: i < 2 ? 'plain n' : 'plain', scope: 'col' }, x)))), body));
}

function facts(t) {
  const f = (name, ...value) => h('div', null, h('dt', null, name), h('dd', null, value));
  const parent = t.parent && [t.parent.trace ? traceLink(t.parent.trace) : `trace ${t.parent.number}`, t.parent.exit === null ? ', behind the call at its end' : `, exit ${t.parent.exit}`];
  const next = t.left.filter((x) => x.to);
  const stitched = (children.get(t.id) ?? []).filter((c) => c.kind === 'stitch');
  return h('dl', { class: 'facts' },
    f('Kind', t.kind),
    f('Starts at', lineLink(t.start)),
    parent && f('Goes on from', parent),
    t.root && t.root !== t.id && f('Root', traceLink(t.root)),
    f('Ends', linkWords(t)),
    f('State', fateWords(t), t.replaced_by ? [' by ', traceLink(t.replaced_by)] : null),
    f('Entered', `${times(t.entries)} from the interpreter`),
    f('Exits taken', times(takenOf(t))),
    time && f('Samples', percent(shareOfTrace(t.id))),
    next.length + stitched.length > 0 && f('Followed by', next.map((x, i) => [i ? ', ' : '', traceLink(x.to), ` at exit ${x.exit}`]), stitched.map((c) => [' ', traceLink(c.id), ' behind its end'])),
    f('Size', `${count(t.instructions, 'instruction')} of IR, ${count(t.mcode, 'byte')}`),
    f('Took', `${us(t.record_us)} µs to record, ${us(t.optimise_us)} µs to optimise, ${us(t.lower_us)} µs for machine code`),
    f('Passes', t.passes.map((p) => `${p.name} ${p.before}→${p.after}`).join(', ')));
}

// The IR before optimisation, as the choice says.
const BEFORE = {
  asked: 'as asked for',
  emitted: 'as emitted',
};

async function traceView(main, [id]) {
  const t = trace(Number(id));
  if (!t) return notFound(main, 'There is no such trace.');
  rowsByPlace = new Map();
  pinned = null;
  put(main, 
    h('div', { class: 'bar' }, h('h2', null, `Trace ${nameOf(t)}`),
      t.id > 1 && traceLink(t.id - 1, '← previous'), t.id < traces.length && traceLink(t.id + 1, 'next →'),
      h('a', { href: `#graph/${forest.indexOf(rootOf(t))}` }, 'its tree'), children.has(t.id) && h('a', { href: `#graph/t${t.id}` }, 'what follows')),
    facts(t));
  const here = location.hash;
  const code = await codeOf(t.id);
  // Something else may have been chosen meanwhile.
  if (location.hash !== here) return;
  if (!code) {
    put(main, h('p', { class: 'note' }, data.code_left_out > 0 ? `Its code was left out: the page has that of the traces that are used most, and lacks ${data.code_left_out}. The data that --json writes has it.` : 'Its code was left out, as there is too much of it.'));
    return;
  }
  const grid = h('div', { class: 'panes' });
  const draw = (before) => {
    rowsByPlace = new Map();
    const panes = [];
    const choice = h('select', { 'aria-label': 'IR before optimisation', onchange: () => draw(choice.value) },
      Object.entries(BEFORE).map(([value, words]) => h('option', { value, selected: value === before }, words)));
    pane('Bytecode', null, bytecodeItems(code), panes);
    pane('IR before', choice, irItems(code[before]), panes);
    pane('IR after', null, irItems(code.optimised), panes);
    pane('Machine code', null, machineItems(code), panes);
    grid.replaceChildren(...panes.map((p) => p.element));
    highlight(pinned);
  };
  draw('asked');
  put(main, grid, h('p', { class: 'note' }, 'Point at a line to see what was made of it; arrow keys move in a column. In the IR before optimisation, struck out is what needed no instruction of its own (it was folded, shared or forwarded), with what is used in its place; “as emitted” is what was left for the passes over the whole trace.'),
    h('h3', null, 'Exits'), exitTable(t, code));
}
