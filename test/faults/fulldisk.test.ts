import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { post } from '../conformance/fixture.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, eventually, startOriel } from '../support/oriel.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { configAt } from '../support/watcher.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'
const large = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'x'.repeat(900_000) },
})

/** Writes until it fails; returns the names of acknowledged objects. */
async function fill(client: Client): Promise<readonly string[]> {
  const names: string[] = []
  for (let i = 0; i < 200; i++) {
    const name = `large-${i}`
    const status = await client(path, post(large(name))).then(
      reply => reply.status,
      () => 0,
    )
    if (status !== 201) return names
    names.push(name)
  }
  throw new Error('the disk is never full')
}

describe('a full disk', function () {
  this.timeout(120_000)

  it('ends the server with one line, and loses no acknowledged write', async () => {
    const directory = await temporaryDirectory('full')
    const full = await startOriel({ directory, largestFile: 120_000 })
    const client = await clientOf(configAt(full, full.url))
    const names = await fill(client)
    client.close()
    await eventually(
      async () => full.output(),
      output => output.includes('cannot be written'),
    )
    assert.equal(await full.stop(), 1)
    const last = full.output().trimEnd().split('\n').at(-1) ?? ''
    assert.match(last, /^oriel: the store in .*store cannot be written: .*Is there room on the disk\?$/)

    const again = await startOriel({ directory })
    const reader = await clientOf(configAt(again, again.url))
    const { items } = (await reader(path)).json<{ items: readonly KubeObject[] }>()
    const found = items.map(({ metadata }) => metadata.name)
    assert.deepEqual(
      names.filter(name => !found.includes(name)),
      [],
    )
    reader.close()
    await discard(again)
  })
})
