// Reads a snapshot with the code of Chrome's developer tools (npm: heap-snapshot-toolkit) and with v8-heapsnapshot.
import { createReadStream, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [file, folder] = process.argv.slice(2)
const find = createRequire(pathToFileURL(folder + '/'))
const file_says = JSON.parse(readFileSync(file, 'utf-8')).snapshot
const check = (holds, what) => { if (!holds) throw new Error(what) }

const { parse } = await import(pathToFileURL(find.resolve('heap-snapshot-toolkit')))
const s = await parse(createReadStream(file, 'utf-8'))
check(s.nodeCount === file_says.node_count, 'number of nodes')
const names = new Map()
let lost = 0, accounts = 0
for (let node = s.createNode(0), i = 0; i < s.nodeCount; i++, node.nodeIndex += s.nodeFieldCount) {
  names.set(node.name(), (names.get(node.name()) ?? 0) + 1)
  // The root itself is further away than anything that it leads to.
  if (i !== 0 && (node.distance() < 0 || node.distance() > 1e6)) lost++
  if (node.name() === 'Account' && node.type() === 'object') accounts++
}
check(lost === 0, `${lost} nodes are at no distance`)
check(accounts === 3000, `${accounts} accounts`)
console.log(`developer tools: ${s.nodeCount} nodes, ${s.totalSize} bytes, all reachable`)

const { parseSnapshotFromFile } = find('v8-heapsnapshot')
const v8 = await parseSnapshotFromFile(file)
check(v8.nodes.length === file_says.node_count && v8.edges.length === file_says.edge_count, 'nodes and edges')
console.log(`v8-heapsnapshot: ${v8.nodes.length} nodes, ${v8.edges.length} edges`)
