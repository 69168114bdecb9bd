import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { ObjectTexts } from './objecttexts.ts'
import { outcomes } from './outcomes.ts'

describe('calls of many webhooks for one write', () => {
  it('are at most 16 at a time, and have their values in their order', async () => {
    let running = 0
    let most = 0
    const items = Array.from({ length: 100 }, (_, i) => i)
    const values = await outcomes(items, async i => {
      most = Math.max(most, ++running)
      await new Promise(resolve => setImmediate(resolve))
      running--
      return 2 * i
    })
    assert.deepEqual(
      values,
      items.map(i => 2 * i),
    )
    assert.equal(most, 16)
  })

  it('end before the first rejection in their order is thrown', async () => {
    let ended = 0
    const fail = async (i: number): Promise<void> => {
      // The first fails last.
      for (let left = 20 - i; left > 0; left--) await new Promise(resolve => setImmediate(resolve))
      ended++
      throw new Error(`the call ${i}`)
    }
    const items = Array.from({ length: 20 }, (_, i) => i)
    await assert.rejects(outcomes(items, fail), /the call 0$/)
    assert.equal(ended, 20)
  })

  it('share the JSON of the object', async () => {
    const texts = new ObjectTexts()
    const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const key = { cluster: 'root:a', namespace: 'default', name: 'a' }
    const review = (uid: string) =>
      texts.review({ kind: 'AdmissionReview', apiVersion: 'v1', request: { uid } }, { object, key })
    const [first, second] = await Promise.all([review('1'), review('2')])
    assert.equal(first[1], second[1])
    assert.deepEqual(JSON.parse(Buffer.concat(second).toString()), {
      kind: 'AdmissionReview',
      apiVersion: 'v1',
      request: {
        uid: '2',
        object: { ...object, metadata: { name: 'a', annotations: { 'kcp.io/cluster': 'root:a' } } },
        oldObject: null,
      },
    })
  })
})
