// Loads two heap snapshots into Chromium's developer tools and reads their rows and the comparison of both, which are to say what leak.lua
// did: comparison.mjs NPM-FOLDER BEFORE AFTER
import { check, openPage, withBrowser } from './browser.mjs'

const [folder, before, after] = process.argv.slice(2)
const words = async (locator) => (await locator.innerText()).replace(/\s+/g, ' ').trim()

await withBrowser(folder, {}, async (browser) => {
  const complaints = []
  const page = await openPage(browser, complaints)
  await page.goto('devtools://devtools/bundled/js_app.html')
  await page.getByRole('tab', { name: 'Memory' }).click()
  const load = async (file, wanted) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: /^Load/ }).first().click()])
    await chooser.setFiles(file)
    const items = page.getByRole('treeitem', { name: /\d B|kB|MB/ })
    await items.nth(wanted).waitFor()
    await items.nth(wanted).click()
    await page.getByText(/[\d,]+ objects \(.*B\)/).first().waitFor()
  }
  const row = async (name) => {
    await page.getByRole('textbox', { name: /[Ff]ilter/ }).first().fill(name)
    const found = page.locator('.data-grid tbody tr', { hasText: new RegExp(`^${name}`) }).first()
    await found.waitFor()
    return words(found)
  }
  await load(before, 0)
  const requests = await row('Request')
  check(requests.replaceAll(',', '').startsWith('Request×1500 '), requests)
  const arrays = await row('array')
  const count = Number(/^array×([\d,]+)/.exec(arrays)?.[1].replaceAll(',', ''))
  check(count >= 5000 && count < 5100, arrays)

  // A field with a number and one with a boolean are seen in the object.
  await row('Request')
  await page.locator('.data-grid tbody tr', { hasText: /^Request/ }).first().click()
  await page.keyboard.press('ArrowRight')
  await page.locator('.data-grid tbody tr', { hasText: /^Request@/ }).first().click()
  await page.keyboard.press('ArrowRight')
  for (const field of [/^number::\d+/, /^done::false/]) {
    await page.locator('.data-grid tbody tr', { hasText: field }).first().waitFor()
  }

  await load(after, 1)
  await page.getByRole('combobox', { name: /Perspective/ }).selectOption({ label: 'Comparison' })
  const compared = await row('Request')
  const cells = page.locator('.data-grid tbody tr', { hasText: /^Request/ }).first().locator('td')
  const [, made, dropped, more] = (await cells.allInnerTexts()).map((text) => text.replace(/[\s,]/g, ''))
  check(made === '2000' && dropped === '500' && more === '+1500', compared)
  console.log(`developer tools of Chromium: ${requests}; ${arrays}; compared: ${compared}`)
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT })
  check(complaints.every((c) => !c.startsWith('request')), complaints.join('\n'))
})
