// The graph of traces: trees of root traces with what goes on from them, drawn from left to right.

const NODE = { width: 150, height: 38, gapX: 86, gapY: 12 };
// What is drawn at a time. A tree with more rows is cut; what is further to the right has a picture of its own.
const MOST_ROWS = 120;
const MOST_COLUMNS = 12;
// Traces that go on from one trace at the same line are drawn as one box if there are so many; a click unfolds them.
const MANY_ALIKE = 4;
const unfolded = new Set();
// Exits to the interpreter that are shown for a trace.
const MOST_EXITS = 3;
// An exit that is taken less often is not hot.
const HOT = 20;

// What goes on from each trace: side traces, and what was stitched behind its end.
const children = new Map();
const roots = [];
for (const t of traces) {
  const parent = t.parent?.trace;
  if (parent) {
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(t);
  } else roots.push(t);
}
// How much a tree is used, as far as is counted: entries from the interpreter, and exits to it.
const heat = new Map();
for (const root of roots) {
  let sum = 0;
  const todo = [root];
  while (todo.length) {
    const t = todo.pop();
    sum += t.entries + takenOf(t);
    todo.push(...(children.get(t.id) ?? []));
  }
  heat.set(root.id, sum);
}
const forest = [...roots].sort((a, b) => heat.get(b.id) - heat.get(a.id) || a.id - b.id);
const rootOf = (t) => {
  while (t.parent?.trace) t = trace(t.parent.trace);
  return t;
};
const hottest = traces.reduce((most, t) => Math.max(most, ...t.left.filter((x) => !x.to).map((x) => x.taken)), 0);

// A trace, and what goes on from it at the same line.
function alike(t) {
  const some = [];
  const rest = [];
  const todo = [t];
  while (todo.length) {
    const one = todo.pop();
    some.push(one);
    for (const c of children.get(one.id) ?? []) (placeText(c.start) === placeText(t.start) ? todo : rest).push(c);
  }
  return { some, rest };
}

// The traces that go on from one, with those at the same line as one if they are many.
function foldAlike(list) {
  const byLine = new Map();
  for (const t of list) {
    const line = placeText(t.start);
    if (!byLine.has(line)) byLine.set(line, { first: [], some: [], rest: [] });
    const group = byLine.get(line);
    const more = alike(t);
    group.first.push(t);
    group.some.push(...more.some);
    group.rest.push(...more.rest);
  }
  return [...byLine].flatMap(([line, { first, some, rest }]) => {
    return some.length < MANY_ALIKE || unfolded.has(line) ? first.map((t) => ({ t })) : [{ t: first[0], fold: { key: line, line, some, rest } }];
  });
}

// Places a tree: its first branch goes on in the same row, each other one takes rows of its own. Stops when `room` rows are used.
function layout(root, room) {
  const nodes = [];
  let row = 0;
  let cut = 0;
  const todo = [{ t: root, column: 0, from: null, fresh: false }];
  while (todo.length) {
    const { t, exit, fold, column, from, fresh } = todo.pop();
    if (fresh) row++;
    if (row >= room) {
      cut++;
      continue;
    }
    const node = { t, exit, column, row, from };
    node.more = !exit && column === MOST_COLUMNS;
    nodes.push(node);
    node.fold = fold;
    if (exit || node.more) continue;
    const next = foldAlike(fold ? fold.rest : children.get(t.id) ?? []).map((c) => ({ ...c, column: column + 1, from: node }));
    const exits = fold ? [] : t.left.filter((x) => !x.to && x.taken > 0).sort((a, b) => b.taken - a.taken).slice(0, MOST_EXITS)
      .map((x) => ({ t, exit: x, column: column + 1, from: node }));
    const all = [...next, ...exits];
    // The last one that is pushed comes first, in the row of its parent.
    for (let i = all.length - 1; i >= 0; i--) todo.push({ ...all[i], fresh: i > 0 });
  }
  return { nodes, rows: Math.min(row, room - 1) + 1, cut };
}

const nodeX = (n) => 10 + n.column * (NODE.width + NODE.gapX);
const nodeY = (n) => 10 + n.row * (NODE.height + NODE.gapY);

// A box is the warmer the larger its share of the samples is; not so warm that its text cannot be read.
const heatStyle = (share) => (share > 0 ? `--heat: ${Math.round(Math.min(0.5, 0.08 + share) * 100)}%` : null);

function drawNode(n) {
  const [x, y] = [nodeX(n), nodeY(n)];
  const box = (height) => h('svg:rect', { x, y, width: NODE.width, height, rx: 7 });
  if (n.exit) {
    const hot = n.exit.taken > Math.max(HOT, hottest / 10);
    return h('svg:g', { class: hot ? 'exit hot' : 'exit' }, box(22),
      h('svg:text', { x: x + 8, y: y + 15 }, `interpreter ${times(n.exit.taken)}`));
  }
  const { t } = n;
  if (n.fold) {
    const { key, line, some } = n.fold;
    const all = some.reduce((sum, c) => sum + shareOfTrace(c.id), 0);
    const open = (e) => {
      e.preventDefault();
      unfolded.add(key);
      show(false);
    };
    return h('svg:a', { href: location.hash || '#graph', role: 'button', 'aria-label': `${some.length} traces of ${line}: unfold`, onclick: open },
      h('svg:g', { class: 'node side fold', style: heatStyle(all) }, h('svg:rect', { x: x + 5, y: y - 4, width: NODE.width, height: NODE.height, rx: 7 }), box(NODE.height),
        h('svg:text', { x: x + 8, y: y + 16 }, `${some.length} traces${time ? `, ${percent(all)}` : ''}`),
        h('svg:text', { x: x + 8, y: y + 31, class: 'small' }, `of ${line}`.slice(-26))));
  }
  if (n.more) {
    return h('svg:a', { href: `#graph/t${t.id}`, 'aria-label': `The graph goes on with trace ${nameOf(t)}` },
      h('svg:g', { class: 'node side' }, box(NODE.height), h('svg:text', { x: x + 8, y: y + 23 }, `${nameOf(t)} and on …`)));
  }
  const end = t.link.trace && t.link.trace !== t.id ? `→ ${t.link.kind === 'root' ? '' : t.link.kind + ' '}${nameOf(trace(t.link.trace))}` : t.link.kind;
  return h('svg:a', { href: `#trace/${t.id}`, 'aria-label': `Trace ${nameOf(t)}, ${t.kind}, at ${placeText(t.start)}, ends: ${end}` },
    h('svg:g', { class: `node ${t.kind} ${t.fate !== 'alive' || t.entered === false ? 'gone' : ''}`, style: heatStyle(shareOfTrace(t.id)) }, box(NODE.height),
      h('svg:title', null, `${t.kind} trace, ${fateWords(t)}, entered ${times(t.entries)} from the interpreter${time ? `, ${percent(shareOfTrace(t.id))} of the samples` : ''}`),
      h('svg:text', { x: x + 8, y: y + 16 }, t.link.trace && t.link.trace !== t.id ? `${nameOf(t)} ${end}` : `${nameOf(t)}: ${end}`),
      h('svg:text', { x: x + 8, y: y + 31, class: 'small' }, placeText(t.start).slice(-24)),
      shareOfTrace(t.id) > 0 && h('svg:text', { x: x + NODE.width - 6, y: y + 16, 'text-anchor': 'end', class: 'small' }, percent(shareOfTrace(t.id)))));
}

function drawEdge(n) {
  const [x1, y1] = [nodeX(n.from) + NODE.width, nodeY(n.from) + NODE.height / 2];
  const [x2, y2] = [nodeX(n), nodeY(n) + (n.exit ? 11 : NODE.height / 2)];
  const exit = n.exit ? n.exit.exit : n.t.parent.exit;
  const left = n.exit ?? n.from.t.left.find((x) => x.exit === exit);
  const label = exit === null || exit === undefined ? 'behind call' : `exit ${exit}`;
  const middle = x1 + 16;
  return h('svg:g', null,
    h('svg:path', { d: `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x1 + 26} ${y2} L${x2} ${y2}`, 'stroke-width': left ? Math.min(4, 1 + Math.log10(1 + left.taken) / 2) : 1 }),
    h('svg:text', { x: x1 + 26, y: y2 - 4, class: 'small' }, label));
}

// The links of traces to other ones that are in the picture.
function drawLinks(nodes) {
  const at = new Map(nodes.filter((n) => !n.exit).map((n) => [n.t.id, n]));
  return nodes.map((n) => {
    const to = !n.exit && !n.more && n.t.link.trace !== n.t.id && at.get(n.t.link.trace);
    if (!to) return null;
    const [x1, y1] = [nodeX(n) + NODE.width / 2, nodeY(n) + NODE.height];
    const [x2, y2] = [nodeX(to) + NODE.width / 2, nodeY(to) + NODE.height];
    const low = Math.max(y1, y2) + 10;
    return h('svg:path', { class: 'link', d: `M${x1} ${y1} C${x1} ${low} ${x2} ${low} ${x2} ${y2}` });
  });
}

function drawTree({ nodes, rows }, name) {
  const columns = Math.max(...nodes.map((n) => n.column)) + 1;
  const width = 20 + columns * (NODE.width + NODE.gapX);
  const height = 24 + rows * (NODE.height + NODE.gapY);
  return h('svg:svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': name },
    drawLinks(nodes), nodes.filter((n) => n.from).map(drawEdge), nodes.map(drawNode));
}

// The graph from one trace on.
function graphFrom(main, id) {
  const t = trace(id);
  if (!t) return notFound(main, 'There is no such trace.');
  const tree = layout(t, MOST_ROWS);
  put(main, h('h2', null, `Graph from trace ${nameOf(t)} on`),
    h('div', { class: 'bar' }, traceLink(t.id), t.parent?.trace && ['It goes on from ', traceLink(t.parent.trace)]),
    zoomable([drawTree(tree, `Tree of trace ${nameOf(t)}`)]));
}

// Trees that can be drawn larger and smaller, with a small map that shows which part is in view.
function zoomable(trees) {
  const inner = h('div', { class: 'inner' }, trees);
  const canvas = h('div', { class: 'canvas', tabindex: 0, role: 'region', 'aria-label': 'Graph' }, inner);
  const view = h('svg:rect', { class: 'view' });
  const map = h('svg:svg', { class: 'map', 'aria-hidden': 'true' });
  let zoom = 1;
  const size = () => [inner.scrollWidth / zoom, inner.scrollHeight / zoom];
  const drawView = () => {
    const [width, height] = size();
    const [x, y] = [canvas.scrollLeft / zoom, canvas.scrollTop / zoom];
    const [w, v] = [canvas.clientWidth / zoom, canvas.clientHeight / zoom];
    map.style.display = w >= width && v >= height ? 'none' : '';
    for (const [name, value] of Object.entries({ x, y, width: Math.min(w, width), height: Math.min(v, height) })) view.setAttribute(name, value);
  };
  const set = (z) => {
    zoom = Math.min(3, Math.max(0.1, z));
    inner.style.zoom = zoom;
    drawView();
  };
  const fit = () => {
    const [width, height] = size();
    set(Math.min(1, canvas.clientWidth / width, (innerHeight * 0.75) / height));
  };
  const drawMap = () => {
    const [width, height] = size();
    map.setAttribute('viewBox', `0 0 ${width} ${height}`);
    const boxes = [...inner.querySelectorAll('svg')].flatMap((svg) => [...svg.querySelectorAll('.node > rect:last-of-type')].map((r) => h('svg:rect', {
      class: 'spot', x: Number(r.getAttribute('x')) + svg.parentElement.offsetLeft, y: Number(r.getAttribute('y')) + offsetOf(svg),
      width: r.getAttribute('width'), height: r.getAttribute('height'), style: r.parentElement.getAttribute('style'),
    })));
    map.replaceChildren(...boxes, view);
  };
  const offsetOf = (svg) => {
    let top = 0;
    for (let e = inner.firstElementChild; e && e !== svg; e = e.nextElementSibling) top += e.getBoundingClientRect().height / zoom;
    return top;
  };
  canvas.addEventListener('scroll', drawView);
  canvas.addEventListener('wheel', (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    set(zoom * (e.deltaY < 0 ? 1.15 : 1 / 1.15));
  }, { passive: false });
  canvas.addEventListener('keydown', (e) => {
    const factor = { '+': 1.25, '=': 1.25, '-': 0.8 }[e.key];
    if (factor) set(zoom * factor);
    else if (e.key === '0') fit();
    else return;
    e.preventDefault();
  });
  map.addEventListener('click', (e) => {
    const [width, height] = size();
    const box = map.getBoundingClientRect();
    const scale = Math.max(width / box.width, height / box.height);
    canvas.scrollLeft = (e.clientX - box.left) * scale * zoom - canvas.clientWidth / 2;
    canvas.scrollTop = (e.clientY - box.top) * scale * zoom - canvas.clientHeight / 2;
  });
  const button = (text, label, act) => h('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
  const element = h('div', { class: 'zoomable' },
    h('div', { class: 'bar' }, button('−', 'Smaller (-)', () => set(zoom * 0.8)), button('+', 'Larger (+)', () => set(zoom * 1.25)), button('Fit', 'All of it (0)', fit), button('1:1', 'Natural size', () => set(1))),
    h('div', { class: 'stage' }, canvas, map));
  // Sizes are known when it is in the page.
  requestAnimationFrame(() => {
    drawMap();
    fit();
    if (zoom < 0.6) set(0.6);
  });
  return element;
}

function graphView(main, [first]) {
  if (first?.startsWith('t')) return graphFrom(main, Number(first.slice(1)));
  const from = Math.min(Math.max(Number(first ?? 0) || 0, 0), Math.max(forest.length - 1, 0));
  put(main, h('h2', null, 'Graph of traces'));
  if (forest.length === 0) {
    put(main, h('p', { class: 'note' }, 'No trace was made.'));
    return;
  }
  const drawn = [];
  let room = MOST_ROWS;
  let end = from;
  for (; end < forest.length && room > 0; end++) {
    const tree = layout(forest[end], room);
    if (tree.cut > 0 && end > from) break;
    room -= tree.rows;
    drawn.push(drawTree(tree, `Tree of trace ${nameOf(forest[end])}`));
    if (tree.cut > 0) drawn.push(h('p', { class: 'note' }, `${count(tree.cut, 'branch', 'branches')} of this tree left out: see `, h('a', { href: '#traces' }, 'the list'), '.'));
  }
  // Where a page as long as this one may have begun.
  const back = Math.max(0, from - (end - from));
  put(main, 
    h('div', { class: 'bar' },
      h('span', null, `Trees ${from + 1} to ${end} of ${forest.length}, the most used first`),
      from > 0 && h('a', { href: `#graph/${back}` }, '← previous'),
      end < forest.length && h('a', { href: `#graph/${end}` }, 'next →')),
    zoomable(drawn),
    h('p', { class: 'note' }, 'Each box is a trace: its number, how it ends, where it starts. To the right is what goes on at its exits: side traces, what follows a call that it stopped in front of, or the interpreter. Dashed lines lead to the trace that one ends in. Dashed boxes are traces that were thrown away or are entered no more. The warmer a box, the more samples were taken in the trace.'));
}
