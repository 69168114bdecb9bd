import assert from 'node:assert/strict'
import { kcpCrds, noKcpCrds } from '../../test/support/crds.ts'
import { skip } from '../../test/support/notrun.ts'
import { definitionOf } from '../resource.ts'
import type { KindDefinition } from './definition.ts'
import { kcpKinds } from './kcp/index.ts'

/** Of the cache server, and of a request that is not stored. */
const absent = (kind: KindDefinition): boolean =>
  ['LogicalClusterDump', 'CachedObject'].includes(kind.names.kind)

const upstreamKinds = (): readonly KindDefinition[] =>
  kcpCrds()
    .map(definitionOf)
    .filter(kind => !absent(kind))

/** Removes descriptions, which are our own, and sorts `required`, which is a set: the rest must be equal. */
function normalized(value: unknown, isProperties = false): unknown {
  if (Array.isArray(value)) return value.map(item => normalized(item))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([key, v]) => v !== undefined && (isProperties || key !== 'description'))
    .map(([key, v]) => [key, key === 'required' ? sorted(v) : normalized(v, key === 'properties')])
  return Object.fromEntries(entries)
}
const sorted = (value: unknown): unknown => (Array.isArray(value) ? [...value].sort() : normalized(value))

function differences(ours: unknown, theirs: unknown, at: string): readonly string[] {
  if (isObject(ours) && isObject(theirs)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)])
    return [...keys].flatMap(key => differences(ours[key], theirs[key], `${at}.${key}`))
  }
  const [mine, other] = [JSON.stringify(ours), JSON.stringify(theirs)]
  return mine === other ? [] : [`${at}: ours ${mine}, kcp's ${other}`]
}
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const known = [
  // The types of mounts are the enhancement proposal's, which kcp has not built.
  '.mount.properties.type:',
  // kcp's server does not enforce this rule: a binding can change the selector of an accepted claim.
  '.selector.x-kubernetes-validations: ours undefined',
]

const idOf = (kind: KindDefinition): string => `${kind.names.plural}.${kind.group}`

describe('kinds of kcp', () => {
  it('have one storage version each, and unique names', () => {
    for (const kind of kcpKinds) assert.equal(kind.versions.filter(v => v.storage).length, 1, idOf(kind))
    assert.equal(new Set(kcpKinds.map(idOf)).size, kcpKinds.length)
  })

  it("are kcp's, but for the words", function () {
    if (kcpCrds().length === 0) skip(this, noKcpCrds)
    const ours = new Map(kcpKinds.map(kind => [idOf(kind), normalized(kind)]))
    const theirs = upstreamKinds()
    const found = theirs.flatMap(kind => differences(ours.get(idOf(kind)), normalized(kind), idOf(kind)))
    assert.deepEqual(
      found.filter(difference => !known.some(each => difference.includes(each))),
      [],
    )
    assert.equal(theirs.length, ours.size)
  })
})
