import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { silent } from '../../framework/contract/log.ts'
import { createShardClient } from '../../proxy/shardclient.ts'
import { eventually } from '../../test/support/oriel.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { issueAuthority, issueClient, issueServing } from '../certificates/certificates.ts'
import { followCredentials, readServerAccess } from './kubeconfigfile.ts'

/** Names the files `ca.crt`, `token`, `client.crt` and `client.key` beside it. */
const kubeconfigOf = (port: number): string =>
  JSON.stringify({
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [
      { name: 'a', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': 'ca.crt' } },
    ],
    users: [
      {
        name: 'a',
        user: { tokenFile: 'token', 'client-certificate': 'client.crt', 'client-key': 'client.key' },
      },
    ],
  })

describe('the credentials of a kubeconfig', () => {
  it('are read again when a file that it names changes, and kept while it is not valid', async () => {
    const authority = issueAuthority()
    const { certificate: cert, key } = issueServing(authority, ['127.0.0.1'])
    const server = createServer({ cert, key }, ({ headers }, response) =>
      response.end(JSON.stringify(headers.authorization)),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const directory = await temporaryDirectory('credentials')
    const client = issueClient(authority, 'client')
    await writeFile(join(directory, 'client.crt'), client.certificate)
    await writeFile(join(directory, 'client.key'), client.key)
    const [file, token, ca] = ['kubeconfig', 'token', 'ca.crt'].map(name => join(directory, name)) as [
      string,
      string,
      string,
    ]
    await Promise.all([writeFile(token, 'first'), writeFile(ca, authority.certificate)])
    await writeFile(file, kubeconfigOf((server.address() as AddressInfo).port))
    const stopping = new AbortController()
    const { signal } = stopping
    const errors: string[] = []
    const log = { ...silent, error: (_fields: object, message?: string) => void errors.push(message ?? '') }
    const read = () => readServerAccess('--kubeconfig', file)
    const access = await followCredentials('--kubeconfig', read, { log, signal })
    const shard = createShardClient(await read(), access)
    const sent = () => shard.get<string>('/', signal)
    assert.equal(await sent(), 'Bearer first')
    await writeFile(token, 'second')
    await eventually(sent, said => said === 'Bearer second')
    const refused = (reason: RegExp) =>
      eventually(
        async () => errors.splice(0),
        found => found.some(error => reason.test(error)),
      )
    await writeFile(join(directory, 'client.crt'), cert)
    await refused(/has a client certificate without its private key/)
    assert.equal(await sent(), 'Bearer second')
    await writeFile(join(directory, 'client.crt'), client.certificate)
    await writeFile(ca, 'no certificate')
    await refused(/ca.crt contains no valid certificate/)
    assert.equal(await sent(), 'Bearer second')
    stopping.abort()
    await shard.close()
    server.close()
  })
})
