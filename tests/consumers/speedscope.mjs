// Opens a profile in speedscope itself (npm), in a browser without a window, and reads its table of functions.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openPage, withBrowser } from '../browser/browser.mjs'
import { compare } from './shares.mjs'

const [file, folder, work, format] = process.argv.slice(2)
// What speedscope's own command does.
const loader = join(work, 'loader.js')
const content = readFileSync(file).toString('base64')
writeFileSync(loader, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, ${JSON.stringify(content)})`)
const app = join(folder, 'node_modules/speedscope/dist/release/index.html')
// It draws by WebGL, here without a graphics card.
const args = ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
  '--allow-file-access-from-files']
const text = await withBrowser(folder, { args }, async (browser) => {
  const page = await openPage(browser, [])
  await page.goto(`file://${app}#localProfilePath=${loader}&view=sandwich`)
  await page.getByText(/^sixty \(shares/).first().waitFor()
  return (await page.locator('body').innerText()).replace(/\s+/g, ' ')
})
compare(`speedscope of ${format}`, work, format, (name) => {
  const found = text.match(new RegExp(`\\((\\d+(?:\\.\\d+)?)%\\) \\S+ \\([^)]*%\\) ${name} \\(shares`))
  if (!found) throw new Error(`no ${name} in: ${text.slice(0, 1000)}`)
  return found[1]
})
