import assert from 'node:assert/strict'
import type { Informer } from '../../../framework/contract/informer.ts'
import { type ItemEvent, itemOf } from '../../../framework/contract/item.ts'
import { atOnce } from '../../../framework/json/json.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { AggregatingRoles } from './aggregatingroles.ts'

const roleOf = (name: string, labels: Record<string, string>, selectors: readonly object[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  ...(selectors.length > 0 && { aggregationRule: { clusterRoleSelectors: selectors } }),
})

/** The roles of one logical cluster. */
function scene() {
  const items = new Map<string, ReturnType<typeof itemOf>>()
  let decodings = 0
  let tell: (event: ItemEvent) => void = () => undefined
  const informer: Pick<Informer, 'get' | 'onEvent'> = {
    get: (_, __, name) => items.get(name),
    onEvent(handler) {
      tell = handler
      return () => undefined
    },
  }
  const aggregating = new AggregatingRoles(informer as Informer)
  const put = (name: string, labels: Record<string, string>, ...selectors: readonly object[]): void => {
    const previous = items.get(name)
    const item = itemOf(roleOf(name, labels, selectors), 'c1')
    const { object, bytes, meta } = item
    const decoding = (): KubeObject => {
      decodings++
      return object
    }
    Object.defineProperties(item, {
      ...{ object: { get: decoding }, bytes: { value: bytes }, meta: { value: meta } },
    })
    items.set(name, item)
    tell({ type: previous === undefined ? 'ADDED' : 'MODIFIED', item, ...(previous && { previous }) })
    aggregating.noteChange(item, previous)
  }
  return { aggregating, put, decoded: () => decodings }
}

const selecting = (to: string) => ({ matchLabels: { to } })

describe('roles that aggregate', () => {
  it('are those that select a role as it is, or as it was', () => {
    const { aggregating, put } = scene()
    put('x', {}, selecting('x'))
    put('y', {}, selecting('other'), selecting('y'))
    put('z', {}, selecting('z'))
    aggregating.takeChanges('c1')
    put('a', { to: 'x' })
    put('a', { to: 'y' })
    const changed = aggregating.takeChanges('c1')
    assert.deepEqual(atOnce(aggregating.selecting('c1', changed)), ['x', 'y'])
    assert.deepEqual(aggregating.takeChanges('c1'), [])
    put('y', {})
    assert.deepEqual(atOnce(aggregating.selecting('c1', changed)), ['x'])
    assert.ok(!aggregating.has('c1', 'y'))
  })

  it('are found in many steps where there are many selectors', () => {
    const { aggregating, put } = scene()
    const count = 10_000
    put('large', {}, ...Array.from({ length: count }, (_, i) => selecting(`${i}`)))
    for (let i = 0; i < count; i++) put(`r${i}`, {}, selecting(`r${i}`))
    put('a', { to: 'nothing' })
    const work = aggregating.selecting('c1', [{ to: 'nothing' }])
    let steps = 0
    while (!work.next().done) steps++
    assert.ok(steps >= (3 * count) / 256, `${steps} steps`)
  })

  it('are decoded one in a step, and not when they change', () => {
    const { aggregating, put, decoded } = scene()
    const count = 20
    for (let i = 0; i < count; i++) put(`r${i}`, {}, selecting('x'))
    put('plain', { to: 'x' })
    assert.equal(decoded(), 0)
    const work = aggregating.selecting('c1', [{ to: 'x' }])
    let steps = 0
    while (!work.next().done) steps++
    assert.ok(steps >= count, `${steps} steps`)
    assert.equal(decoded(), 0)
  })
})
