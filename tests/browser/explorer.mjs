// Clicks through pages of the trace explorer: explorer.mjs NPM-FOLDER PAGE LARGE-PAGE SLOW-PAGES [FOLDER-FOR-SCREENSHOTS]
//
// PAGE is that of program.lua here; LARGE-PAGE one with 2,000 traces or more, which is to open in time; SLOW-PAGES is a folder with the pages
// of the programs in tests/subcommands/slow, which have one known cause of slowness each.
import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { check, eventually, openPage, withBrowser } from './browser.mjs'

const [folder, page_, large, slow, shots] = process.argv.slice(2)
const address = (file, hash = '') => pathToFileURL(file).href + hash
// Milliseconds from the start of loading until the page is complete.
const LIMIT = 5000
// Bytes of page for each trace: 5 MB for a thousand.
const MOST_BYTES = 5e6 / 1000
const text = async (locator) => (await locator.innerText()).replace(/\s+/g, ' ').trim()

async function open(page, url) {
  await page.goto('about:blank')
  await page.goto(url)
  await page.waitForSelector('html[data-ready]')
  return Number(await page.getAttribute('html', 'data-ready'))
}

/** Source: lines are marked, and say why. */
async function source(page) {
  const line = (n) => page.locator(`#L${n}`)
  await page.getByRole('link', { name: 'Source', exact: true }).click()
  await eventually(async () => await page.locator('nav a[aria-current]').innerText() === 'Source', 'the source')
  await eventually(async () => /ln known compiled/.test(await line(8).getAttribute('class')), 'line 8 is compiled')
  await eventually(async () => /ln known aborted/.test(await line(20).getAttribute('class')), 'line 20 was given up')
  await eventually(async () => /ln known interpreted/.test(await line(3).getAttribute('class')), 'line 3 is interpreted')
  await eventually(async () => await line(1).getAttribute('class') === 'ln', 'a comment is nothing')
  await eventually(async () => (await text(line(1))).includes('</script>'), 'any text is shown')
  await line(20).getByRole('button').click()
  const detail = await text(page.locator('#L20 + .detail'))
  check(detail.includes('trace too long') && detail.includes('started at'), `why: ${detail}`)
  await line(20).getByRole('button').click()
  await eventually(async () => await page.locator('.detail').count() === 0, 'details go away')
  await eventually(async () => await page.locator('.files a').count() === 2, 'both files are listed')
  await page.locator('.files a').nth(1).click()
  await eventually(async () => (await text(page.locator('main h2'))).endsWith('module.lua'), 'the other file')
}

/** Graph: the trees, links between them, hot exits; a box leads to its trace. */
async function graph(page) {
  await page.getByRole('link', { name: 'Graph', exact: true }).click()
  await eventually(async () => await page.locator('svg .node.root').count() >= 1, 'root traces')
  await eventually(async () => await page.locator('svg .node.side').count() >= 1, 'side traces')
  await eventually(async () => await page.locator('svg path.link').count() >= 1, 'links')
  await eventually(async () => await page.locator('svg .exit.hot').count() >= 1, 'a hot exit')
  await page.locator('svg a').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#trace/'))
}

/** A trace: four columns that go together, the exits. */
async function trace(page) {
  await page.getByRole('link', { name: 'Traces', exact: true }).click()
  await page.getByRole('link', { name: '1', exact: true }).first().click()
  await eventually(async () => await text(page.locator('main h2')) === 'Trace 1', 'trace 1')
  const panes = page.locator('.pane')
  await eventually(async () => await panes.count() === 4, 'four columns')
  for (let i = 0; i < 4; i++) await eventually(async () => await panes.nth(i).locator('.row').count() > 3, `column ${i} has rows`)
  await eventually(async () => await panes.nth(1).locator('.row.saved').count() > 0, 'something was saved')
  await eventually(async () => await panes.nth(2).locator('.row.snap').count() > 0, 'snapshots')
  await eventually(async () => (await text(panes.nth(3))).includes('->LOOP'), 'machine code with names')
  // A line of bytecode, and what was made of it in each column.
  await panes.nth(0).locator('.row[data-place]').first().click()
  for (let i = 0; i < 4; i++) await eventually(async () => await panes.nth(i).locator('.row.same').count() > 0, `column ${i} follows`)
  const current = () => page.locator('.row.current').innerText()
  const before = await current()
  await panes.nth(0).locator('.rows').focus()
  await page.keyboard.press('ArrowDown')
  await eventually(async () => await current() !== before, 'arrow keys move')
  await panes.nth(1).getByRole('combobox').selectOption('emitted')
  await eventually(async () => await page.locator('.pane').nth(1).locator('.row.snap').count() > 0, 'the IR as emitted')
  const exits = page.getByRole('table', { name: 'Exits' }).locator('tbody tr')
  await eventually(async () => (await text(exits.first())).includes('is a'), `conditions: ${await text(exits.first())}`)
  // From an exit to the side trace there, and back.
  await exits.getByRole('link', { name: /^trace / }).first().click()
  await eventually(async () => (await text(page.locator('.facts'))).includes('Goes on from trace 1'), 'the side trace knows its parent')
  await page.goBack()
  await page.waitForFunction(() => document.querySelector('main h2').textContent === 'Trace 1')
}

/** What the first screen says of programs that are slow for a known reason, without scrolling. */
const ANSWERS = {
  polymorphic: [/polymorphic\.lua:27: the call is polymorphic/, /Let one loop call one function/],
  metatable: [/metatable\.lua:7: each object gets a metatable of its own/, /Make the metatable once/],
  unrolled: [/unrolled\.lua:8: the inner loop runs only a few times/, /Let the inner loop run longer/],
  string: [/string\.lua:5: a loop builds a string piece by piece/, /table\.concat/],
  builtin: [/builtin\.lua:6: collectgarbage is not compiled/, /out of the loop/],
}
async function answers(page) {
  for (const [name, [why, advice]] of Object.entries(ANSWERS)) {
    await open(page, address(`${slow}/${name}.html`))
    await eventually(async () => await page.locator('nav a[aria-current]').innerText() === 'Overview', 'the overview comes first')
    const first = page.locator('.finding').first()
    const said = await text(first)
    check(why.test(said) && advice.test(said), `${name}: ${said}`)
    const box = await first.boundingBox()
    check(box.y + box.height <= page.viewportSize().height, `${name}: the answer is on the first screen, and ends at ${box.y + box.height}`)
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: it fits the screen`)
  }
  // From the answer to the line, which is marked.
  await page.locator('.finding a').first().click()
  await page.waitForSelector('.ln.target')
  await eventually(async () => (await text(page.locator('.ln.target'))).includes('collectgarbage'), 'the line')
}

/** Search finds source, bytecode, IR and machine code; by keyboard. */
async function search(page) {
  await page.getByRole('link', { name: 'Search', exact: true }).click()
  await page.waitForFunction(() => document.activeElement?.id === 'search')
  await page.keyboard.type('mod')
  await eventually(async () => /^[1-9]\d* lines?/.test(await text(page.getByRole('status'))), 'something is found')
  const found = page.locator('.found li')
  for (const where of [/bytecode/, /IR \d/, /program\.lua:\d/]) await found.filter({ hasText: where }).first().waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => !location.hash.startsWith('#search'))
}

/** The graph is drawn larger and smaller, and traces of one line are one box until it is opened. */
async function zoom(page) {
  await open(page, address(`${slow}/polymorphic.html`, '#graph'))
  const folded = page.locator('svg .node.fold')
  await folded.first().waitFor()
  check(/\d+ traces/.test(await folded.first().textContent()), 'what is folded is counted')
  const boxes = await page.locator('svg .node').count()
  const scale = () => page.locator('.inner').evaluate((e) => Number(e.style.zoom))
  const before = await scale()
  await page.getByRole('button', { name: /^Larger/ }).click()
  await eventually(async () => await scale() > before, 'larger')
  await page.locator('.canvas').focus()
  await page.keyboard.press('0')
  await eventually(async () => await scale() <= 1, 'all of it')
  await page.locator('svg a[role=button]').first().focus()
  await page.keyboard.press('Enter')
  await eventually(async () => await page.locator('svg .node').count() > boxes, 'unfolded')
}

async function given_up(page) {
  await page.getByRole('link', { name: 'Given up', exact: true }).click()
  const row = page.locator('tbody tr', { hasText: 'trace too long' }).first()
  await eventually(async () => /\.lua:\d+/.test(await text(row)), `where: ${await text(row)}`)
  await row.getByRole('link').first().click()
  await page.waitForSelector('.ln.target')
  await page.goto(page.url().replace(/#.*/, '#trace/99999'))
  await eventually(async () => (await text(page.locator('main'))).includes('no such trace'), 'what is not there')
}

/** With thousands of traces: everything opens soon, and rows come as they are wanted. */
async function many(page) {
  const ready = await open(page, address(large))
  check(ready < LIMIT, `it took ${ready} ms to open`)
  const bytes = statSync(large).size / await page.evaluate(() => traces.length)
  check(bytes < MOST_BYTES, `${bytes} bytes for each trace`)
  const timed = async (hash, selector) => {
    const begun = Date.now()
    await page.evaluate((h) => { location.hash = h }, hash)
    await page.waitForSelector(selector)
    return Date.now() - begun
  }
  const views = {
    graph: await timed('#graph', 'svg .node'),
    traces: await timed('#traces', 'tbody tr:nth-child(100)'),
    trace: await timed('#trace/1900', '.pane .row'),
    source: await timed('#source', '.ln.known'),
    overview: await timed('#overview', '.finding, .note'),
  }
  for (const [view, ms] of Object.entries(views)) check(ms < LIMIT, `${view} took ${ms} ms`)
  await timed('#graph', 'svg .node')
  await eventually(async () => await page.locator('svg .node').count() < 300, 'a part of the graph is drawn')
  await page.getByRole('link', { name: 'next →' }).click()
  await eventually(async () => /Trees (?!1 )\d+ to/.test(await text(page.locator('main .bar').first())), 'and the next part')
  await timed('#traces', 'tbody tr')
  const rows = () => page.locator('tbody tr').count()
  const first = await rows()
  check(first < 1000, 'some rows')
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  await page.waitForFunction((n) => document.querySelectorAll('tbody tr').length > n, first)
  await page.getByRole('searchbox').fill('part7 loop')
  await eventually(async () => (await text(page.getByRole('status'))).match(/^[1-9]\d* traces?$/), 'the filter')
  const total = Number((await page.evaluate(() => traces.length)))
  check(total >= 2000, `${total} traces`)
  console.log(`${total} traces: open after ${ready} ms; then ${Object.entries(views).map(([v, ms]) => `${v} ${ms} ms`).join(', ')}`)
}

async function pictures(page) {
  await page.setViewportSize({ width: 1120, height: 620 })
  const shot = async (hash, name, selector) => {
    await open(page, address(page_, hash))
    if (selector) await page.locator(selector).first().click()
    await page.screenshot({ path: `${shots}/${name}.png` })
  }
  await shot('#overview', 'explorer-overview')
  await shot('#source', 'explorer-source')
  await shot('#graph', 'explorer-graph')
  await shot('#trace/1', 'explorer-trace', '.pane .row[data-place]')
}

for (const colorScheme of ['light', 'dark']) {
  await withBrowser(folder, { colorScheme }, async (browser) => {
    const complaints = []
    const page = await openPage(browser, complaints)
    if (shots) {
      if (colorScheme === 'light') await pictures(page)
      return
    }
    await open(page, address(page_))
    await source(page)
    await graph(page)
    await trace(page)
    await given_up(page)
    await search(page)
    await zoom(page)
    for (const [width, height] of [[1920, 1080], [1280, 800], [800, 600]]) {
      await page.setViewportSize({ width, height })
      await answers(page)
    }
    await page.setViewportSize({ width: 480, height: 800 })
    await open(page, address(page_, '#trace/1'))
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits on a narrow screen')
    await page.setViewportSize({ width: 1280, height: 800 })
    if (colorScheme === 'light') await many(page)
    check(complaints.length === 0, complaints.join('\n'))
  })
}
if (!shots) console.log('the explorer: source, graph, traces and what was given up, by mouse and keyboard')
