// Reads a profile with pprof-format (npm). Its samples are few, so shares may be 4 points off; tests/profile.rs is stricter.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'

const [file, folder] = process.argv.slice(2)
const { Profile } = createRequire(pathToFileURL(folder + '/'))('pprof-format')
const p = Profile.decode(gunzipSync(readFileSync(file)))
const text = (i) => p.stringTable.strings[Number(i)]
const functions = new Map(p.function.map((f) => [String(f.id), text(f.name)]))
const places = new Map(p.location.map((l) => [String(l.id), functions.get(String(l.line[0].functionId))]))
const self = new Map()
let total = 0
for (const s of p.sample) {
  const [count] = s.value.map(Number)
  const name = places.get(String(s.locationId[0]))
  self.set(name, (self.get(name) ?? 0) + count)
  total += count
}
for (const [name, share] of [['sixty', 60], ['thirty', 30], ['ten', 10]]) {
  const found = [...self].filter(([n]) => n.startsWith(name + ' ')).reduce((sum, [, n]) => sum + n, 0) * 100 / total
  console.log(`pprof-format: ${name} ${found.toFixed(1)}%`)
  if (Math.abs(found - share) > 4) throw new Error(`${name} ${found}`)
}
