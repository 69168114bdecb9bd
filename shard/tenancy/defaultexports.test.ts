import assert from 'node:assert/strict'
import { defaultExportsAnnotation } from '../../kcp/annotations.ts'
import type { WorkspaceType } from '../../kcp/tenancy.ts'
import { defaultExports, defaultHomes } from './defaultexports.ts'

describe('the exports of the default bindings of a WorkspaceType', () => {
  const homes: Record<string, string> = {}
  const directory = { referencedCluster: ({ path = '' }) => homes[path] }
  const [one, two, own] = [
    { path: 'root:a', export: 'one' },
    { path: 'root:b', export: 'two' },
    { export: 'own' },
  ]
  const type = (defaultAPIBindings: object[], old?: WorkspaceType): WorkspaceType => {
    const metadata = { name: 't' }
    const next = { apiVersion: 'x/v1', kind: 'WorkspaceType', metadata, spec: { defaultAPIBindings } }
    const value = defaultExports(directory, 'c', next as WorkspaceType, old)
    const annotations = value === undefined ? {} : { [defaultExportsAnnotation]: value }
    return { ...next, metadata: { ...metadata, annotations } } as WorkspaceType
  }

  const isDefaultHome = (of: WorkspaceType, ...asked: Parameters<ReturnType<typeof defaultHomes>>): boolean =>
    defaultHomes(of)(...asked)

  it('are those that the paths led to when the default bindings were added', () => {
    Object.assign(homes, { 'root:a': 'a1', 'root:b': 'b1' })
    const first = type([one, own])
    assert.deepEqual([isDefaultHome(first, one, 'a1'), isDefaultHome(first, own, 'c')], [true, true])
    // Another tenant has made the workspaces again.
    Object.assign(homes, { 'root:a': 'a2', 'root:b': 'b2' })
    const second = type([one, two], first)
    assert.deepEqual([isDefaultHome(second, one, 'a1'), isDefaultHome(second, one, 'a2')], [true, false])
    assert.deepEqual([isDefaultHome(second, two, 'b1'), isDefaultHome(second, two, 'b2')], [false, true])
    // Removed and added again.
    assert.equal(isDefaultHome(type([one], type([two], second)), one, 'a2'), true)
  })

  it('are any at their paths in a type that does not name them', () => {
    const old = {
      apiVersion: 'x/v1',
      kind: 'WorkspaceType',
      metadata: {},
      spec: { defaultAPIBindings: [one] },
    }
    assert.equal(isDefaultHome(type([one], old), one, 'a3'), true)
  })
})
