// Pictures of the trace explorer, compared with stored ones: pictures.mjs NPM-FOLDER PAGE PICTURES
//
// The views of PAGE, at three sizes, light and dark. A picture is stored as a grid of mean colours: 16 by 10 hexadecimal numbers. Fonts, of which
// each system has others, move letters and change the grid a little; what is missing, overlaps, or has the wrong colour changes it much. With
// BLESS=1 the pictures are stored instead. STYLE is CSS that is added, to try what a fault or other fonts come to.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { check, openPage, withBrowser } from './browser.mjs'

const [folder, page_, stored] = process.argv.slice(2)
const SIZES = [[800, 600], [1280, 800], [1920, 1080]]
const VIEWS = ['overview', 'source', 'graph', 'traces', 'trace/1', 'aborts']
const [COLUMNS, ROWS] = [16, 10]
// Of 255. With other fonts (DejaVu Sans, a serif font) a field changes by 16 at most and a picture by 2.5 in the mean; without the columns of a trace
// or the navigation some fields change by 30 to 40, and in the other colours nearly all by 200.
const MOST_OF_A_FIELD = 30
const MOST_IN_THE_MEAN = 6

/** The mean colours of a picture, which the browser unpacks. */
async function grid(helper, png) {
  const numbers = await helper.evaluate(async ([data, columns, rows]) => {
    const image = new Image()
    image.src = `data:image/png;base64,${data}`
    await image.decode()
    const { width, height } = image
    const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })
    context.drawImage(image, 0, 0)
    const pixels = context.getImageData(0, 0, width, height).data
    const sums = new Float64Array(columns * rows * 3)
    const counts = new Float64Array(columns * rows)
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const field = Math.floor(y * rows / height) * columns + Math.floor(x * columns / width)
        counts[field]++
        for (let c = 0; c < 3; c++) sums[field * 3 + c] += pixels[(y * width + x) * 4 + c]
      }
    }
    return Array.from(sums, (s, i) => Math.round(s / counts[Math.floor(i / 3)]))
  }, [png.toString('base64'), COLUMNS, ROWS])
  const hex = numbers.map((n) => n.toString(16).padStart(2, '0'))
  return Array.from({ length: ROWS }, (_, row) => Array.from({ length: COLUMNS }, (_, column) => {
    const at = (row * COLUMNS + column) * 3
    return hex.slice(at, at + 3).join('')
  }).join(' '))
}

/** How far two grids are from each other: the most of a field, and the mean. */
function distance(a, b) {
  const numbers = (rows) => rows.join(' ').match(/[0-9a-f]{2}/g).map((x) => parseInt(x, 16))
  const [first, second] = [numbers(a), numbers(b)]
  if (first.length !== second.length) return { most: 255, mean: 255 }
  const differences = first.map((x, i) => Math.abs(x - second[i]))
  return { most: Math.max(...differences), mean: differences.reduce((sum, d) => sum + d, 0) / differences.length }
}

/** What must hold of the layout whatever the fonts: all fits the width, and no part of the page lies over another. */
function layout() {
  const problems = []
  if (document.documentElement.scrollWidth > innerWidth) problems.push(`it is ${document.documentElement.scrollWidth} wide`)
  const boxes = [...document.querySelectorAll('body > *, main > *')].map((e) => ({ e, box: e.getBoundingClientRect() }))
    .filter(({ e, box }) => box.width > 0 && box.height > 0 && !['fixed', 'sticky', 'absolute'].includes(getComputedStyle(e).position))
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      const over = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)
      const beside = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left)
      if (!a.e.contains(b.e) && over > 1 && beside > 1) problems.push(`${a.e.tagName} ${a.e.className} lies over ${b.e.tagName} ${b.e.className}`)
    }
  }
  return problems
}

const pictures = new Map()
for (const colorScheme of ['light', 'dark']) {
  await withBrowser(folder, { colorScheme, reducedMotion: 'reduce' }, async (browser) => {
    const complaints = []
    const page = await openPage(browser, complaints)
    const helper = await browser.newPage()
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height })
      for (const view of VIEWS) {
        const name = `${view} ${width}x${height} ${colorScheme}`
        await page.goto('about:blank')
        await page.goto(`${pathToFileURL(page_).href}#${view}`)
        await page.waitForSelector('html[data-ready]')
        // When things happened differs from run to run.
        await page.addStyleTag({ content: `svg.timeline { visibility: hidden } ${process.env.STYLE ?? ''}` })
        const problems = await page.evaluate(layout)
        check(problems.length === 0, `${name}: ${problems.join('; ')}`)
        pictures.set(name, await grid(helper, await page.screenshot({ animations: 'disabled', caret: 'hide' })))
      }
    }
    check(complaints.length === 0, complaints.join('\n'))
  })
}

if (process.env.BLESS) {
  writeFileSync(stored, [...pictures].map(([name, rows]) => `${name}\n${rows.join('\n')}\n`).join('\n'))
  console.log(`${pictures.size} pictures stored`)
} else {
  check(existsSync(stored), `no ${stored}: BLESS=1 makes it`)
  const known = new Map(readFileSync(stored, 'utf8').trimEnd().split('\n\n').map((part) => {
    const [name, ...rows] = part.split('\n')
    return [name, rows]
  }))
  const wrong = []
  let largest = { most: 0, mean: 0 }
  for (const [name, rows] of pictures) {
    const { most, mean } = distance(known.get(name) ?? [''], rows)
    largest = { most: Math.max(largest.most, most), mean: Math.max(largest.mean, mean) }
    if (most > MOST_OF_A_FIELD || mean > MOST_IN_THE_MEAN) wrong.push(`${name} looks different: ${most} at most, ${mean.toFixed(1)} in the mean`)
  }
  check(wrong.length === 0, wrong.join('\n'))
  console.log(`${pictures.size} pictures look as stored: a field differs by ${largest.most} of 255 at most, a picture by ${largest.mean.toFixed(1)} in the mean`)
}
