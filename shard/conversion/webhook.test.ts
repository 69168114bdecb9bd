import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { KubeObject } from '../../framework/meta/object.ts'
import { createAddressPolicy } from '../../framework/net/addresspolicy.ts'
import { type AnyReview, serveWebhooks, type Webhooks } from '../../test/support/servers/webhooks.ts'
import { conversionWebhook, newConversions } from './webhook.ts'

const group = 'conversion.example.com'
const object = (version: string, more: object = {}): KubeObject => ({
  apiVersion: `${group}/${version}`,
  kind: 'Thing',
  metadata: { name: 'a' },
  ...more,
})

const members = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]))

/** What a webhook converts an object to. */
const converted: Readonly<Record<string, KubeObject>> = {
  usual: object('v2', { spec: { size: 1 } }),
  long: object('v2', { spec: members(60_000, '') }),
}

/** What a webhook may not convert an object to, and the error. */
const refused: Readonly<Record<string, readonly [answer: KubeObject, why: RegExp]>> = {
  fields: [
    object('v2', { spec: members(100_001, '') }),
    /failed: the response is not JSON, .* an object that is too large$/,
  ],
  items: [
    object('v2', { spec: { l: Array(150_000).fill(0) } }),
    /it has more than 100000 values or 3145728 characters$/,
  ],
  nested: [
    object('v2', { spec: members(60_000, { a: 1 }) }),
    /it has more than 100000 values or 3145728 characters$/,
  ],
  characters: [object('v2', { spec: { text: 'x'.repeat(4_000_000) } }), /values or 3145728 characters$/],
  'characters of one text': [
    object('v2', { spec: { text: 'x'.repeat(6_000_000) } }),
    /failed: the response is not JSON, .* a text or an object that is too large$/,
  ],
  labels: [
    object('v2', { metadata: { name: 'a', labels: members(10_001, '') } }),
    /metadata.labels: Too many: must have at most 10000 items$/,
  ],
  annotations: [
    object('v2', { metadata: { name: 'a', annotations: members(10_001, '') } }),
    /metadata.annotations: Too many: must have at most 10000 items$/,
  ],
}

const conversions = newConversions(createAddressPolicy({ allow: ['127.0.0.1'] }))

const all = async (converted: readonly KubeObject[]): Promise<readonly KubeObject[]> => converted

interface Review extends AnyReview {
  readonly request: { readonly uid: string; readonly objects: readonly KubeObject[] }
}

describe('a conversion webhook that answers with', function () {
  this.timeout(60_000)
  let webhooks: Webhooks
  const convert = (path: string, count = 1): Promise<readonly KubeObject[]> => {
    const { url, caBundle } = webhooks
    const webhook = { url: `${url}/${encodeURIComponent(path)}`, caBundle, reviewVersions: ['v1'] }
    return conversionWebhook(webhook, conversions)(Array(count).fill(object('v1')), `${group}/v2`, all)
  }
  before(async () => {
    const answers = {
      ...converted,
      ...Object.fromEntries(Object.entries(refused).map(([what, [o]]) => [what, o])),
    }
    const answering = (answer: KubeObject) => (review: Review) => ({
      convertedObjects: review.request.objects.map(() => answer),
      result: { status: 'Success' },
    })
    webhooks = await serveWebhooks<Review>(
      Object.fromEntries(
        Object.entries(answers).map(([what, answer]) => [`/${encodeURIComponent(what)}`, answering(answer)]),
      ),
    )
  })
  after(() => webhooks.close())

  it('many fields is read', async () => {
    assert.deepEqual(await convert('usual', 2), [converted.usual, converted.usual])
    assert.deepEqual(await convert('long', 3), [converted.long, converted.long, converted.long])
  })

  it('more in all than one answer may have is read in parts', async () => {
    const large = object('v1', { spec: { text: 'x'.repeat(300_000) } })
    const objects = Array.from({ length: 40 }, (_, i) => ({ ...large, metadata: { name: `n${i}` } }))
    const sizes: number[] = []
    const answer = ({ request }: Review) => {
      sizes.push(request.objects.length)
      const convertedObjects = request.objects.map(each => ({ ...each, apiVersion: `${group}/v2` }))
      return { convertedObjects, result: { status: 'Success' } }
    }
    const own = await serveWebhooks<Review>({ '/parts': answer })
    const { url, caBundle } = own
    const webhook = { url: `${url}/parts`, caBundle, reviewVersions: ['v1'] }
    const read = await conversionWebhook(webhook, conversions)(objects, `${group}/v2`, all)
    assert.deepEqual(
      read,
      objects.map(each => ({ ...each, apiVersion: `${group}/v2` })),
    )
    assert.deepEqual(sizes, Array(10).fill(4))
    own.close()
  })

  it('more values than are decoded at once is refused, also where no object has too many', async () => {
    const values = object('v2', { spec: { all: Array(4_000).fill({}) } })
    const answer = ({ request }: Review) => ({
      convertedObjects: request.objects.map(() => values),
      result: { status: 'Success' },
    })
    const own = await serveWebhooks<Review>({ '/values': answer })
    const { url, caBundle } = own
    const convertTo = conversionWebhook(
      { url: `${url}/values`, caBundle, reviewVersions: ['v1'] },
      conversions,
    )
    const objects = Array(100).fill(object('v1'))
    await assert.rejects(convertTo(objects, `${group}/v2`, all), /has more than 300,000 values/)
    assert.equal((await convertTo(objects.slice(70), `${group}/v2`, all)).length, 30)
    own.close()
  })

  it('its objects is used with few others at a time', async () => {
    const { url, caBundle } = webhooks
    const convertTo = conversionWebhook(
      { url: `${url}/usual`, caBundle, reviewVersions: ['v1'] },
      conversions,
    )
    let [using, used, most] = [0, 0, 0]
    const use = async (): Promise<void> => {
      most = Math.max(most, ++using)
      while (using < 4 && used < 16) await turn()
      await turn()
      using--
      used++
    }
    await Promise.all(Array.from({ length: 20 }, () => convertTo([object('v1')], `${group}/v2`, use)))
    assert.equal(most, 4)
  })

  for (const [what, [, why]] of Object.entries(refused))
    it(`too many ${what} is refused`, () => assert.rejects(convert(what), why))
})
