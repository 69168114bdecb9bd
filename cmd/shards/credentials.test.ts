import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import type { StartFlags } from '../flags/start.ts'
import { prepareCredentials } from './credentials.ts'

describe('the credentials of `oriel start --shards`', () => {
  it('have a certificate of the front proxy that the shards accept after years without a restart', async () => {
    const directory = await temporaryDirectory('credentials')
    await prepareCredentials({ bindAddress: '127.0.0.1' } as StartFlags, directory, ['root'])
    const [authority, certificate] = await Promise.all(
      ['requestheader-ca.crt', 'front-proxy.crt'].map(
        async name => new X509Certificate(await readFile(join(directory, name))),
      ),
    )
    const [until = 0, end = 0] = [authority, certificate].map(each => Date.parse(each?.validTo ?? ''))
    assert.ok(end >= until, `${certificate?.validTo} is before ${authority?.validTo}`)
  })
})
