// Reads a profile with pprof-format (npm).
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { compare } from './shares.mjs'

const [file, folder, work] = process.argv.slice(2)
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
const samplesOf = (name) => [...self].filter(([n]) => n.startsWith(name + ' ')).reduce((sum, [, n]) => sum + n, 0)
compare('pprof-format', work, 'pprof', (name) => (samplesOf(name) * 100 / total).toFixed(3))
