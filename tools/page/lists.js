// Tables of the traces, and of what was given up.

// A table whose columns sort, whose rows appear as they come into view.
function table(columns, items, label) {
  let order = items;
  let sorted = null;
  const body = h('tbody');
  const fill = () => {
    body.replaceChildren();
    lazily(body, order.length, (i) => h('tr', null, columns.map((c) => h('td', { class: c.number ? 'n' : null }, c.cell(order[i])))), 150);
  };
  const heads = columns.map((c) => h('th', { class: c.number ? 'n' : null, scope: 'col' },
    h('button', {
      onclick() {
        const down = sorted?.c === c ? !sorted.down : Boolean(c.number);
        sorted = { c, down };
        const sign = down ? -1 : 1;
        order = [...items].sort((a, b) => {
          const [x, y] = [c.key(a), c.key(b)];
          return x < y ? -sign : x > y ? sign : 0;
        });
        heads.forEach((head, i) => (columns[i] === c ? head.setAttribute('aria-sort', down ? 'descending' : 'ascending') : head.removeAttribute('aria-sort')));
        fill();
      },
    }, c.name)));
  fill();
  return h('div', { class: 'scroll' }, h('table', { 'aria-label': label }, h('thead', null, h('tr', null, heads)), body));
}

const us = (n) => Math.round(n).toLocaleString('en');
const TRACE_COLUMNS = [
  { name: 'Trace', number: true, key: (t) => t.id, cell: (t) => traceLink(t.id, nameOf(t)) },
  { name: 'Kind', key: (t) => t.kind, cell: (t) => t.kind },
  {
    name: 'From', key: (t) => (t.parent ? t.parent.number * 1000 + (t.parent.exit ?? 0) : -1),
    cell: (t) => t.parent && [t.parent.trace ? traceLink(t.parent.trace, `${nameOf(trace(t.parent.trace))}`) : `${t.parent.number}`, t.parent.exit === null ? '' : `/${t.parent.exit}`],
  },
  { name: 'Ends', key: (t) => t.link.kind, cell: (t) => linkWords(t) },
  { name: 'Starts at', key: (t) => placeText(t.start), cell: (t) => lineLink(t.start) },
  { name: 'Entries', number: true, key: (t) => t.entries, cell: (t) => t.entries.toLocaleString('en') },
  { name: 'Exits taken', number: true, key: takenOf, cell: (t) => takenOf(t).toLocaleString('en') },
  { name: 'IR', number: true, key: (t) => t.instructions, cell: (t) => t.instructions.toLocaleString('en') },
  { name: 'Bytes', number: true, key: (t) => t.mcode, cell: (t) => t.mcode.toLocaleString('en') },
  { name: 'µs', number: true, key: (t) => t.record_us + t.optimise_us + t.lower_us, cell: (t) => us(t.record_us + t.optimise_us + t.lower_us) },
  { name: 'State', key: fateWords, cell: (t) => h('span', { class: t.fate === 'alive' ? null : 'gone' }, fateWords(t)) },
];

function tracesView(main) {
  const place = h('div');
  const filter = h('input', { id: 'filter', type: 'search', placeholder: 'file:line, kind, state', autocomplete: 'off' });
  const number = h('span', { class: 'faint', role: 'status' });
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (t) => {
      const text = `${t.number} ${t.kind} ${t.link.kind} ${placeText(t.start)} ${fateWords(t)}`.toLowerCase();
      return words.every((w) => text.includes(w));
    };
    const some = words.length ? traces.filter(matches) : traces;
    number.textContent = count(some.length, 'trace');
    place.replaceChildren(table(TRACE_COLUMNS, some, 'Traces'));
  };
  filter.addEventListener('input', show);
  put(main, h('h2', null, 'Traces'), h('div', { class: 'bar' }, h('label', { for: 'filter' }, 'Filter'), filter, number), place);
  show();
}

const ABORT_COLUMNS = [
  { name: 'Times', number: true, key: (a) => a.count, cell: (a) => a.count.toLocaleString('en') },
  { name: 'Reason', key: (a) => a.reason, cell: (a) => a.reason },
  { name: 'At', key: (a) => placeText(a.at), cell: (a) => lineLink(a.at) },
  { name: 'Bytecode', key: (a) => (a.at ? bytecodeAt(a.at) : ''), cell: (a) => h('code', null, a.at ? bytecodeAt(a.at) : '') },
  {
    name: 'Started', key: (a) => placeText(a.start),
    cell: (a) => [lineLink(a.start), a.parent && [' from ', a.parent.trace ? traceLink(a.parent.trace) : `trace ${a.parent.number}`, a.parent.exit === null ? '' : ` exit ${a.parent.exit}`]],
  },
];

function abortsView(main) {
  const sorted = [...aborts].sort((a, b) => b.count - a.count);
  put(main, h('h2', null, 'Recordings given up'));
  if (aborts.length === 0) put(main, h('p', { class: 'note' }, 'None.'));
  else put(main, table(ABORT_COLUMNS, sorted, 'Recordings given up'));
}
