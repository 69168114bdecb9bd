import assert from 'node:assert/strict'
import { itemOf } from '../../framework/index.ts'
import { Failures } from './failures.ts'

const field = 'spec.resources[0].where'
const itemWith = (name: string) =>
  itemOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid: name, resourceVersion: '1' } }, 'one')

describe('failures of expressions of a View', () => {
  it('tell a user whose request has no cost left nothing about the object at which it ended', () => {
    const failures = new Failures(() => assert.fail('the status would tell it'))
    const message = (name: string): string => {
      try {
        failures.refused(field, { failure: `failed for ${name}`, isOverBudget: true }, itemWith(name))
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    assert.match(message('a'), /cost too much for one request: spec\.resources\[0\]\.where$/)
    assert.equal(message('hidden'), message('a'))
    assert.deepEqual(failures.all, [])
  })

  it('count each version of an object once, however often it is read', () => {
    let changes = 0
    const failures = new Failures(() => changes++)
    for (const name of ['a', 'b', 'a']) failures.refused(field, { failure: 'no such key' }, itemWith(name))
    assert.deepEqual(failures.all, [{ field, count: 2, reason: 'no such key' }])
    assert.equal(changes, 2)
  })
})
