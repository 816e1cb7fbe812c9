// What is known of the profile of shares.lua, from the folder where run.sh has put it: the shares that the program has measured itself, and
// those that perilune profile has told of the same profile.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// A reader has the shares that perilune profile prints, but for two differences: each rounds (speedscope prints whole percents from ten on),
// and a sample in the compiler counts for the function that was running there, and as `(compiler)` in the file. The program has measured
// about the same. `shareOf` has the digits as the reader prints them.
export function compare(reader, work, format, shareOf) {
  const took = readFileSync(join(work, `took.${format}`), 'utf8').trim().split('\n').map((line) => line.split('\t'))
  const told = readFileSync(join(work, `told.${format}`), 'utf8')
  const compiling = Number(told.match(/compiler ([0-9.]+)%/)?.[1] ?? 0)
  for (const [name, measured] of took) {
    const [digits, wanted] = [shareOf(name), Number(told.match(new RegExp(`${name} \\(shares[^)]*\\) ([0-9.]+)%`))?.[1])]
    const [found, rounded] = [Number(digits), 0.5 / 10 ** (digits.split('.')[1]?.length ?? 0)]
    console.log(`${reader}: ${name} ${digits}%, perilune profile ${wanted}%, measured ${Number(measured).toFixed(1)}%`)
    if (!(Math.abs(found - wanted) <= rounded + 0.15 + compiling)) throw new Error(`${name}: not what perilune profile tells`)
    if (!(Math.abs(found - Number(measured)) <= 4)) throw new Error(`${name}: not what was measured`)
  }
}
