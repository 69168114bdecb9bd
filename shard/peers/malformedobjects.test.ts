import assert from 'node:assert/strict'
import { itemOf } from '../../framework/contract/item.ts'
import { silent } from '../../framework/contract/log.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { MalformedObjects } from './malformedobjects.ts'

const { clusterRoles } = resources

describe('objects of another shard', () => {
  it('are logged when they are malformed: each revision once, and ten by name', () => {
    const lines: { count: number; objects: readonly string[] }[] = []
    const log = { ...silent, warn: (fields: object) => void lines.push(fields as (typeof lines)[number]) }
    const malformed = new MalformedObjects(log)
    const sent = (resourceVersion: string, ...names: readonly string[]) =>
      names.map(name => ({
        resource: clusterRoles,
        item: itemOf({ metadata: { name, resourceVersion }, rules: [5] } as unknown as KubeObject, 'abc'),
      }))
    malformed.report('abc', sent('1', 'a'))
    malformed.report('abc', sent('1', 'a'))
    malformed.report('abc', [...sent('1', 'a'), ...sent('2', 'b')])
    malformed.report('abc', sent('3', 'a'))
    const many = Array.from({ length: 12 }, (_, i) => `c${i}`)
    malformed.report('abc', sent('4', ...many))
    const wrong = 'rules[0]: Invalid value: "integer": rules[0] in body must be of type object: "integer"'
    const named = lines.map(({ count, objects }) => [count, objects.length, objects[0]])
    const roles = 'clusterroles.rbac.authorization.k8s.io'
    assert.deepEqual(named, [
      [1, 1, `${roles} a: ${wrong}`],
      [1, 1, `${roles} b: ${wrong}`],
      [1, 1, `${roles} a: ${wrong}`],
      [12, 10, `${roles} c0: ${wrong}`],
    ])
  })
})
