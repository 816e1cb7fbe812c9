// Opens a profile in speedscope itself (npm), in a browser without a window, and reads its table of functions.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compare } from './shares.mjs'

const [file, app, work, format] = process.argv.slice(2)
// What speedscope's own command does.
const loader = join(work, 'loader.js')
const content = readFileSync(file).toString('base64')
writeFileSync(loader, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, ${JSON.stringify(content)})`)
const options = ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
  '--allow-file-access-from-files', '--virtual-time-budget=30000', '--dump-dom', `--user-data-dir=${join(work, 'chromium')}`]
const url = `file://${app}#localProfilePath=${loader}&view=sandwich`
const page = execFileSync('chromium', [...options, url], { timeout: 120000, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })
const text = page.toString().replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
compare(`speedscope of ${format}`, work, format, (name) => {
  const found = text.match(new RegExp(`\\((\\d+(?:\\.\\d+)?)%\\) \\S+ \\([^)]*%\\) ${name} \\(shares`))
  if (!found) throw new Error(`no ${name} in: ${text.slice(0, 1000)}`)
  return found[1]
})
