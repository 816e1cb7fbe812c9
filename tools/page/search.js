// Search in the source, and in the bytecode, IR and machine code of traces.

const MOST_FOUND = 200;

function searchView(main, [word]) {
  const input = h('input', { id: 'search', type: 'search', value: word === undefined ? '' : decodeURIComponent(word), autocomplete: 'off', size: 30 });
  const status = h('span', { class: 'faint', role: 'status' });
  const list = h('ul', { class: 'found' });
  let run = 0;
  const search = async () => {
    const mine = ++run;
    const wanted = input.value.trim().toLowerCase();
    list.replaceChildren();
    status.textContent = '';
    if (wanted === '') return;
    let found = 0;
    const has = (text) => text.toLowerCase().includes(wanted);
    const add = (href, where, text) => {
      if (++found <= MOST_FOUND) put(list, h('li', null, h('a', { href }, where), ' ', h('code', null, text.trim())));
    };
    files.forEach((file, i) => linesOf(i)?.forEach((text, n) => has(text) && add(`#source/${i}/${n + 1}`, `${baseName(file.name)}:${n + 1}`, text)));
    for (const t of traces) {
      const code = await codeOf(t.id);
      if (mine !== run) return;
      if (!code) continue;
      const at = (what) => `trace ${nameOf(t)} ${what}`;
      for (const b of code.bytecode) {
        const text = b.place === undefined ? `call of ${b.builtin}` : bytecodeAt(code.places[b.place]);
        if (has(text)) add(`#trace/${t.id}`, at('bytecode'), text);
      }
      for (const l of code.optimised) if (has(l.text)) add(`#trace/${t.id}`, at(`IR ${l.ref ?? ''}`), l.text);
      for (const m of code.machine) if (has(m.text)) add(`#trace/${t.id}`, at('machine code'), m.text);
    }
    status.textContent = count(found, 'line') + (found > MOST_FOUND ? `, the first ${MOST_FOUND} are shown` : '');
  };
  let timer = null;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, 150);
  });
  put(main, h('h2', null, 'Search'),
    h('div', { class: 'bar' }, h('label', { for: 'search' }, 'In source, bytecode, IR and machine code'), input, status), list);
  input.focus();
  return search();
}
