import assert from 'node:assert/strict'
import { type LocatedType, TypesInvalid, typeChain, typeName } from './typechain.ts'

type Types = Readonly<Record<string, readonly string[]>>

/** The names of the chain of a type, whose bases are given by name. */
function chainOf(start: string, types: Types): readonly string[] {
  const find = ({ name = '' }: { readonly name?: string }): LocatedType | undefined =>
    types[name] && {
      cluster: 'one',
      path: 'root',
      type: {
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        kind: 'WorkspaceType',
        metadata: { name },
        spec: { extend: { with: types[name].map(base => ({ name: base, path: 'root' })) } },
      },
    }
  const located = find({ name: start })
  assert.ok(located)
  return typeChain(located, find).map(type => typeName(type).replace('root:', ''))
}

const numbered = (count: number, basesOf: (i: number) => readonly string[]): Types =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, basesOf(i)]))

describe('the types that a workspace type extends', () => {
  it('are before the type, each once', () => {
    const types = { top: ['left', 'right'], left: ['base'], right: ['base', 'other'], base: [], other: [] }
    assert.deepEqual(chainOf('top', types), ['base', 'left', 'other', 'right', 'top'])
  })

  it('are visited once, although each of them extends two that have the same bases', () => {
    const bases = (i: number): readonly string[] =>
      i < 2 ? [] : [`t${i - 2 - (i % 2)}`, `t${i - 1 - (i % 2)}`]
    assert.equal(chainOf('t199', numbered(200, bases)).length, 199)
  })

  it('must exist, and not extend themselves', () => {
    assert.throws(() => chainOf('a', { a: ['b'] }), {
      name: 'TypesInvalid',
      message: 'unable to find inherited workspace type b',
    })
    assert.throws(() => chainOf('a', { a: ['b'], b: ['c'], c: ['b'] }), {
      name: 'TypesInvalid',
      message: 'circular dependency detected in workspace type root:b: root:b -> root:c',
    })
  })

  it('are limited in their number, and in that of their references', () => {
    const long = numbered(10_000, i => (i === 0 ? [] : [`t${i - 1}`]))
    assert.equal(chainOf('t199', long).length, 200)
    assert.throws(() => chainOf('t9999', long), /root:t9999 extends more than 200 types/)
    assert.throws(() => chainOf('a', { a: new Array(10_001).fill('b'), b: [] }), TypesInvalid)
  })
})
