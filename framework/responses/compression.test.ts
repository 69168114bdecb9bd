import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import type { Answer } from '../request/response.ts'
import { compressed } from './negotiation.ts'

const answer = (body: Answer['body'], headers: Record<string, string> = {}): Answer => ({
  status: 200,
  contentType: 'application/json',
  headers,
  body,
})
const asking = (accepted?: string) => ({
  headers: accepted === undefined ? {} : { 'accept-encoding': accepted },
})
const large = Buffer.alloc(200_000, 'x')

describe('compression', () => {
  it('is for large bodies and clients that want it', async () => {
    const sent = await compressed(answer(large, { Vary: 'Accept' }), asking('br, gzip;q=0.5'))
    assert.deepEqual(sent.headers, { Vary: 'Accept, Accept-Encoding', 'Content-Encoding': 'gzip' })
    assert.ok(Buffer.isBuffer(sent.body))
    assert.deepEqual(gunzipSync(sent.body), large)
  })

  it('is not used for other requests', async () => {
    const small = answer(Buffer.from('{}'))
    assert.equal(await compressed(small, asking('gzip')), small)
    const stream = answer((async function* () {})())
    assert.equal(await compressed(stream, asking('gzip')), stream)
    for (const accepted of [undefined, 'br', 'gzip;q=0', 'gzip;q=0.0', 'xgzip']) {
      const whole = answer(large)
      assert.equal(await compressed(whole, asking(accepted)), whole, accepted)
    }
  })

  it('is done once for documents', async () => {
    const document = answer(large, { ETag: '"a"' })
    const [a, b] = await Promise.all([
      compressed(document, asking('gzip')),
      compressed(document, asking('gzip')),
    ])
    assert.equal(a.body, b.body)
  })
})
