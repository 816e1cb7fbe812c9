// Loads a heap snapshot into Chromium's own developer tools, as somebody would by hand, and compares what their memory panel says
// with the file: devtools.mjs SNAPSHOT NPM-FOLDER CLASS COUNT
import { readFileSync } from 'node:fs'
import { check, openPage, withBrowser } from './browser.mjs'

const [file, folder, wanted, count] = process.argv.slice(2)
const { nodes, snapshot } = JSON.parse(readFileSync(file, 'utf-8'))
const fields = snapshot.meta.node_fields
const column = (name) => nodes.filter((_, i) => i % fields.length === fields.indexOf(name))
const sizes = column('self_size')
const bytes = sizes.reduce((a, b) => a + b, 0)
// Nodes without a size stand for no object and are not counted there; nor are arrays that only their table has, whose size is
// counted as the table's.
const kinds = column('type').map((i) => snapshot.meta.node_types[0][i])
const objects = sizes.filter((n) => n > 0).length
const arrays = sizes.filter((n, i) => n > 0 && kinds[i] === 'array').length

/** Bytes from a text like "864 kB". */
function size(text) {
  const [, number, unit] = /([\d.,]+)\s*(k|M)?B/.exec(text) ?? []
  return Number(number?.replaceAll(',', '')) * { k: 1e3, M: 1e6 }[unit ?? ''] || Number(number)
}
const near = (a, b) => Math.abs(a - b) <= b * 0.005 + 1000
const words = async (locator) => (await locator.innerText()).replace(/\s+/g, ' ').trim()

await withBrowser(folder, {}, async (browser) => {
  const complaints = []
  const page = await openPage(browser, complaints)
  await page.goto('devtools://devtools/bundled/js_app.html')
  await page.getByRole('tab', { name: 'Memory' }).click()
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: /^Load/ }).first().click()])
  await chooser.setFiles(file)
  await page.getByRole('treeitem', { name: /\d B|kB|MB/ }).first().click()

  const status = await words(page.getByText(/[\d,]+ objects \(.*B\)/).first())
  const told = Number(/([\d,]+) objects/.exec(status)[1].replaceAll(',', ''))
  check(told <= objects && told >= objects - arrays, `${status}; the file has ${objects}, of which ${arrays} are arrays`)
  check(near(size(/\(.*\)/.exec(status)[0]), bytes), `${status}; the file has ${bytes} bytes`)

  await page.getByRole('textbox', { name: /[Ff]ilter/ }).first().fill(wanted)
  const row = page.locator('.data-grid tbody tr', { hasText: new RegExp(`^${wanted}`) }).first()
  await row.waitFor()
  const text = await words(row)
  check(text.replaceAll(',', '').startsWith(`${wanted}×${count} `), `${count} of ${wanted}: ${text}`)

  // One of the objects, and what keeps it alive.
  await row.click()
  await page.keyboard.press('ArrowRight')
  await page.locator('.data-grid tbody tr', { hasText: new RegExp(`^${wanted}@`) }).first().click()
  const retainers = page.locator('.data-grid').nth(1).locator('tbody tr', { hasText: /@\d/ })
  await retainers.first().waitFor()
  console.log(`developer tools of Chromium: ${status}; ${text}; the first is kept alive by "${await words(retainers.first())}"`)
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT })
  check(complaints.every((c) => !c.startsWith('request')), complaints.join('\n'))
})
