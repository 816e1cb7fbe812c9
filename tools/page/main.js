// What is shown is what the address says, so that links, the history and the keyboard lead everywhere.

const VIEWS = { overview: overviewView, source: sourceView, graph: graphView, traces: tracesView, aborts: abortsView, search: searchView, trace: traceView };

function notFound(main, words) {
  put(main, h('h2', null, 'Nothing here'), h('p', { class: 'note' }, words));
}

async function show(byUser) {
  const [name, ...rest] = location.hash.slice(1).split('/').filter(Boolean);
  const view = name === undefined ? 'overview' : name;
  const main = document.getElementById('main');
  main.replaceChildren();
  for (const a of document.querySelectorAll('nav a')) {
    if (a.hash === `#${view === 'trace' ? 'traces' : view}`) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  // A view that unpacks code goes on later; its heading is there at once.
  const done = Object.hasOwn(VIEWS, view) ? VIEWS[view](main, rest) : notFound(main, 'There is no such view.');
  document.title = `${main.querySelector('h2')?.textContent ?? 'Traces'} – ${data.program.script}`;
  if (byUser) {
    // A view may have chosen what is typed into.
    if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
    if (rest.length < 2 && view !== 'source') scrollTo(0, 0);
  }
  await done;
}

function summary() {
  const { program, counters, left_out: out } = data;
  const end = { done: 'ended', error: `failed: ${program.end.message}`, exit: `ended by os.exit(${program.end.status})` }[program.end.how];
  const alive = traces.filter((t) => t.fate === 'alive').length;
  const parts = [
    `It ${end}.`,
    alive === traces.length ? `${count(traces.length, 'trace')}.` : `${count(traces.length, 'trace')}, ${alive} of them alive.`,
    `${count(aborts.reduce((sum, a) => sum + a.count, 0), 'recording')} given up.`,
    data.flushes && `Flushed ${times(data.flushes)}.`,
    `${count(counters.deopt, 'exit')} to the interpreter.`,
  ];
  const left = Object.entries(out).filter((x) => x[1] > 0).map(([what, n]) => `${n} ${what}`);
  if (left.length) parts.push(`Left out: ${left.join(', ')}.`);
  document.getElementById('script').textContent = [program.script, ...program.arguments].join(' ');
  document.getElementById('summary').textContent = parts.filter(Boolean).join(' ');
}

document.getElementById('find').addEventListener('submit', (e) => {
  e.preventDefault();
  const number = Number(document.getElementById('find-number').value);
  // Of several with one number the last one.
  const found = traces.findLast((t) => t.number === number);
  location.hash = found ? `#trace/${found.id}` : '#traces';
});
addEventListener('hashchange', () => show(true));
summary();
show(false).then(() => { document.documentElement.dataset.ready = String(Math.round(performance.now())); });
