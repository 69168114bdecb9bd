import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { RequestOptions } from 'node:https'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf, readReply } from '../../support/client.ts'
import { discard, type Oriel, startOriel } from '../../support/oriel.ts'
import { configAt } from '../../support/watcher.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'

/** Larger than the buffers of sockets: a client that does not read blocks the response. */
const large = Array.from({ length: 40 }, (_, i) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `large-${i}` },
  data: { text: 'x'.repeat(500_000) },
}))

/** A watch over HTTP/2: its data, and the code with which its stream ended. */
async function watchH2(oriel: Oriel) {
  const options: RequestOptions = {}
  const config = configAt(oriel, oriel.url)
  await config.applyToHTTPSOptions(options)
  const session = connect(oriel.url, { ca: options.ca as string })
  const headers = options.headers as Record<string, string>
  const stream = session.request({
    ...headers,
    ':path': `${path}?watch=1&fieldSelector=metadata.name%3Dlarge-0`,
  })
  const chunks: Buffer[] = []
  stream.on('data', chunk => chunks.push(chunk))
  await once(stream, 'response')
  const ended = once(stream, 'close').then(() => ({
    code: stream.rstCode,
    lines: Buffer.concat(chunks).toString().trimEnd().split('\n'),
  }))
  return { ended, first: once(stream, 'data') }
}

describe('a server that gets SIGTERM', function () {
  this.timeout(60_000)
  let oriel: Oriel
  let client: Client
  before(async () => {
    oriel = await startOriel({ args: ['--store', 'memory:'] })
    client = await clientOf(configAt(oriel, oriel.url))
    for (const body of large) assert.equal((await client(path, { method: 'POST', body })).status, 201)
  })
  after(() => discard(oriel))

  it('completes watches and lists, and exits with 0', async () => {
    const list = await client.open(path)
    const watch = await client.watch(`${path}?watch=1&fieldSelector=metadata.name%3Dlarge-1`)
    const h2 = await watchH2(oriel)
    assert.equal((await watch.next())?.object.metadata.name, 'large-1')
    await h2.first
    const code = oriel.stop()
    assert.equal(await watch.next(), undefined)
    const { code: streamCode, lines } = await h2.ended
    assert.equal(streamCode, 0)
    for (const line of lines) JSON.parse(line)
    const { items = [] } = (await readReply(list)).json()
    assert.equal(
      items.filter(({ metadata }: KubeObject) => metadata.name?.startsWith('large-')).length,
      large.length,
    )
    assert.equal(await code, 0, oriel.output())
  })
})
