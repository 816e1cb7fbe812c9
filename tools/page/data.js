// The data, what is found in it, and the making of elements.

const data = JSON.parse(document.getElementById('data').textContent);
const { files, functions, traces, aborts } = data;

// Puts elements into one that is there; what is null or false is nothing.
const put = (e, ...children) => e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));

// An element with attributes and children. Text is only ever put in as text.
function h(tag, attributes, ...children) {
  const svg = tag.startsWith('svg:');
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? '' : value);
  }
  put(e, ...children);
  return e;
}

const trace = (id) => traces[id - 1];
const fileOf = (place) => functions[place.function].file;
const count = (n, one, many = one + 's') => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
const bytes = (n) => (n < 1e4 ? `${n} B` : n < 1e7 ? `${Math.round(n / 1e3).toLocaleString('en')} KB` : `${Math.round(n / 1e6).toLocaleString('en')} MB`);
const times = (n) => `${n.toLocaleString('en')}×`;

// What a trace is called: by its number, and by its id as well where a number was used again.
const reused = new Set();
{
  const seen = new Set();
  for (const t of traces) (seen.has(t.number) ? reused : seen).add(t.number);
}
const nameOf = (t) => (reused.has(t.number) ? `${t.number} (${ordinal(t)})` : `${t.number}`);
const ordinals = new Map();
{
  const next = new Map();
  for (const t of traces) {
    const n = (next.get(t.number) ?? 0) + 1;
    next.set(t.number, n);
    ordinals.set(t.id, n);
  }
}
function ordinal(t) {
  const n = ordinals.get(t.id);
  const ending = n % 100 > 10 && n % 100 < 14 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th';
  return `${n}${ending}`;
}

const baseName = (name) => name.replace(/^.*[\\/]/, '');
const placeText = (place) => (place ? `${baseName(files[fileOf(place)].name)}:${place.line}` : '?');
const bytecodeAt = (place) => functions[place.function].bytecode[place.pc]?.text ?? '';
const lineLink = (place) => place
  ? h('a', { href: `#source/${fileOf(place)}/${place.line}` }, placeText(place))
  : h('span', { class: 'faint' }, '?');
const traceLink = (id, text) => {
  const t = trace(id);
  return h('a', { href: `#trace/${id}`, class: t.fate === 'alive' ? null : 'gone' }, text ?? `trace ${nameOf(t)}`);
};

// How a trace ends, in words.
function linkWords(t) {
  if (t.link.trace && t.link.trace !== t.id) return [t.link.kind === 'root' ? '→ ' : `${t.link.kind} → `, traceLink(t.link.trace)];
  return [t.link.kind];
}
const fateWords = (t) => t.fate !== 'alive' ? t.fate
  : t.disabled ? 'disabled'
    : t.replaced_by ? 'replaced'
      : t.entered === false ? 'out of use' : 'in use';
const takenOf = (t) => t.left.reduce((sum, x) => sum + x.taken, 0);

// The text of a line, if it is known.
const split = new Map();
function linesOf(file) {
  if (!split.has(file)) split.set(file, files[file].text === null ? null : files[file].text.split(/\r\n|\n|\r/));
  return split.get(file);
}
const sourceLine = (place) => linesOf(fileOf(place))?.[place.line - 1];

// The code of traces is packed, some traces together, and unpacked when one of them is looked at.
const unpacked = new Map();
function unpack(pack) {
  if (!unpacked.has(pack)) {
    const read = async () => {
      const e = document.getElementById(`code-${pack}`);
      if (!e) return {};
      const packed = Uint8Array.from(atob(e.textContent), (c) => c.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
      return JSON.parse(await new Response(stream).text());
    };
    unpacked.set(pack, read());
  }
  return unpacked.get(pack);
}
const codeOf = async (id) => (await unpack(Math.floor((id - 1) / data.pack)))[id] ?? null;

// Fills a container with rows as they come into view. `ensure(i)` makes row i now, and gives it.
function lazily(container, length, make, chunk = 200, root = null) {
  let made = 0;
  const rows = [];
  const sentinel = h(container.tagName === 'TBODY' ? 'tr' : 'div', { 'aria-hidden': 'true' });
  const more = () => {
    const end = Math.min(made + chunk, length);
    const some = [];
    for (; made < end; made++) some.push(make(made));
    rows.push(...some);
    sentinel.before(...some);
    if (made === length) {
      observer.disconnect();
      sentinel.remove();
    }
  };
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((e) => e.isIntersecting)) return;
    more();
    // It may still be in view, and then nothing changes that would be observed.
    if (made < length) {
      observer.unobserve(sentinel);
      observer.observe(sentinel);
    }
  }, { root, rootMargin: '400px' });
  container.append(sentinel);
  if (length === 0) sentinel.remove();
  else {
    more();
    if (made < length) observer.observe(sentinel);
  }
  return {
    ensure(i) {
      while (made <= i && made < length) more();
      return rows[i];
    },
  };
}
