// Starts headless Chromium by playwright-core, which is looked for in a folder where npm has installed it.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-lcd-text']

/** Runs `f` with a browser that has a new profile; what it returns. */
export async function withBrowser(folder, options, f) {
  const { chromium } = createRequire(pathToFileURL(folder + '/'))('playwright-core')
  const profile = mkdtempSync(join(tmpdir(), 'perilune-browser-'))
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
    ...options,
  })
  try {
    return await f(browser)
  } finally {
    await browser.close()
    rmSync(profile, { recursive: true, force: true })
  }
}

/** A new page; what it complains about is put into `complaints`. Anything that it asks of a network fails and is a complaint. */
export async function openPage(browser, complaints) {
  const page = await browser.newPage()
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) complaints.push(`${m.type()}: ${m.text()}`) })
  page.on('pageerror', (e) => complaints.push(String(e.stack)))
  page.on('request', (r) => { if (!/^(file|devtools|data|blob):/.test(r.url())) complaints.push(`request: ${r.url()}`) })
  return page
}

export const check = (holds, what) => { if (!holds) throw new Error(what) }

/** Fails unless the condition comes to hold: a click on a link is answered by an event that comes after the click has returned. */
export async function eventually(condition, what) {
  const end = Date.now() + 10_000
  while (!await condition()) {
    check(Date.now() < end, what)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
