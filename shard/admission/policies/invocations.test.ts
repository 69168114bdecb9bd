import assert from 'node:assert/strict'
import type { ApiSet } from '../../../framework/contract/apis.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { type Item, itemOf } from '../../../framework/contract/item.ts'
import { silent } from '../../../framework/contract/log.ts'
import { turnsDuring } from '../../../test/support/time/during.ts'
import { decodedParams, paramFinder } from './invocations.ts'

const widget = (i: number, spec: object = {}) =>
  itemOf({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${i}` }, spec }, 'c1')

describe('the parameters of a policy', () => {
  let [decoded, batches] = [0, 0]
  /** An item that tells when it is decoded. */
  const told = (item: Item): Item => ({
    key: item.key,
    meta: item.meta,
    bytes: item.bytes,
    get object() {
      decoded++
      return item.object
    },
  })
  const finderOf = (count: number, spec: object = {}) => {
    const list = async function* () {
      for (let i = 0; i < count; i += 100) {
        batches++
        yield Array.from({ length: 100 }, (_, k) => told(widget(i + k, spec)))
      }
    }
    const resource = { group: 'example.com', version: 'v1', names: { plural: 'widgets', kind: 'Widget' } }
    const apis = { resources: [{ ...resource, storage: { list } }] } as unknown as ApiSet
    const ctx = { signal: new AbortController().signal, record: { log: silent } } as unknown as RequestContext
    const kind = { paramKind: { apiVersion: 'example.com/v1', kind: 'Widget' } }
    return paramFinder({ apis: () => apis })(
      kind as Parameters<ReturnType<typeof paramFinder>>[0],
      { paramRef: { selector: {} } } as Parameters<ReturnType<typeof paramFinder>>[1],
      { cluster: 'c1', namespace: '', ctx },
    )
  }
  beforeEach(() => {
    decoded = 0
    batches = 0
  })

  it('are not decoded before they are evaluated', async () => {
    const found = await finderOf(900)
    assert.equal(found.length, 900)
    assert.equal(decoded, 0)
    assert.equal((await decodedParams(found[7]))?.metadata.name, 'w7')
  })

  it('are read no further than to the limit', async () => {
    await assert.rejects(finderOf(100_000), /limit of policy bindings is 1000/)
    assert.deepEqual([decoded, batches], [0, 11])
  })

  it('are limited in their bytes, too', async () => {
    const spec = { text: 'x'.repeat(500_000) }
    await assert.rejects(finderOf(500, spec), /limit of the parameters of a policy binding is 64 MiB/)
    assert.deepEqual([decoded, batches], [0, 2])
    assert.equal((await finderOf(100, spec)).length, 100)
  })

  it('of many values are decoded in turns', async () => {
    const item = widget(1, { list: Array.from({ length: 200_000 }, () => ({})) })
    const decoding = decodedParams(told(item))
    const turns = await turnsDuring(decoding)
    assert.deepEqual((await decoding)?.spec, item.object.spec)
    assert.ok(turns > 3, String(turns))
    assert.equal(decoded, 0)
  })
})
