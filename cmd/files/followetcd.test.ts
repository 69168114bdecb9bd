import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silent } from '../../framework/contract/log.ts'
import type { Store } from '../../shard/store/store.ts'
import { put, text } from '../../test/contract/store/opened.ts'
import { issueClient } from '../../test/support/clientcertificates.ts'
import { notRun } from '../../test/support/notrun.ts'
import { eventually } from '../../test/support/oriel.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../test/support/servers/etcd.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { issueAuthority, issueServing } from '../certificates/certificates.ts'
import { openStore } from './store.ts'

/** Collects the lines of a log. */
function newLog() {
  const lines: string[] = []
  const note = (_fields: object, message?: string) => void lines.push(message ?? '')
  const said = (pattern: RegExp) =>
    eventually(
      async () => lines.splice(0),
      found => found.some(line => pattern.test(line)),
    )
  return { log: { ...silent, warn: note, error: note }, said }
}

/** The changes that one watch gets, one after the other. */
function watching(store: Store, signal: AbortSignal): () => Promise<string | undefined> {
  const changes = store.watch('', store.revision, signal)
  return async () => text(((await changes.next()).value ?? [])[0]?.value)
}

if (etcdProgram() === undefined) notRun('the files of the access to etcd', noEtcd)
else
  describe('the files of the access to etcd', () => {
    let etcd: Etcd
    let stopping: AbortController
    beforeEach(() => {
      stopping = new AbortController()
    })
    afterEach(async () => {
      stopping.abort()
      await etcd.stop()
    })

    it('are read again for new connections: those of before another authority and its certificates', async () => {
      const folder = await temporaryDirectory('etcd-files')
      const file = (name: string) => join(folder, name)
      const write = (name: string, text: string) => writeFile(file(name), text)
      const issue = async () => {
        const authority = issueAuthority()
        const [serving, client] = [
          issueServing(authority, ['127.0.0.1']),
          await issueClient(authority, { subject: 'CN=oriel' }),
        ]
        await Promise.all([write('cert', serving.certificate), write('key', serving.key)])
        await Promise.all([write('client.crt', client.certificate), write('client.key', client.key)])
        await Promise.all([write('trusted', authority.certificate), write('ca', authority.certificate)])
      }
      await issue()
      const certificates = [
        '--trusted-ca-file',
        file('trusted'),
        '--cert-file',
        file('cert'),
        '--key-file',
        file('key'),
      ]
      etcd = await startEtcd(['--client-cert-auth', ...certificates], 'https')
      const { log, said } = newLog()
      const files = {
        etcdCafile: file('ca'),
        etcdCertfile: file('client.crt'),
        etcdKeyfile: file('client.key'),
      }
      const { signal } = stopping
      const store = await openStore(etcd.url, { ...files, etcdCompactionInterval: 0 }, { log, signal })
      const next = watching(store, signal)
      await store.commit([put('a', '1')])
      assert.equal(await next(), '1')
      await issue()
      await said(/credentials for etcd reloaded/)
      await etcd.restart()
      await store.commit([put('a', '2')])
      assert.equal(await next(), '2')
      await write('client.key', issueAuthority().key)
      await said(/credentials for etcd cannot be used.*--etcd-keyfile/)
      await write('ca', 'no certificate')
      await said(/credentials for etcd cannot be used.*--etcd-cafile/)
      await etcd.restart()
      await store.commit([put('a', '3')])
      assert.equal(await next(), '3')
      await store.close()
    })

    async function asRoot(path: string, body: object): Promise<void> {
      const { token } = await etcd.post('auth/authenticate', { name: 'root', password: 'p' })
      const headers = { authorization: String(token) }
      const response = await fetch(`${etcd.url}/v3/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      assert.equal(response.status, 200)
    }

    it('are read again for new tokens: a password changes in etcd before or after its file', async () => {
      etcd = await startEtcd()
      for (const name of ['root', 'oriel']) await etcd.post('auth/user/add', { name, password: 'p' })
      await etcd.post('auth/role/add', { name: 'root' })
      for (const user of ['root', 'oriel']) await etcd.post('auth/user/grant', { user, role: 'root' })
      await etcd.post('auth/enable', {})
      const etcdPasswordFile = join(await temporaryDirectory('etcd-password'), 'password')
      await writeFile(etcdPasswordFile, 'p')
      const { log, said } = newLog()
      const user = { etcdUser: 'oriel', etcdPasswordFile, etcdCompactionInterval: 0 }
      const { signal } = stopping
      const store = await openStore(etcd.url, user, { log, signal })
      const next = watching(store, signal)
      await asRoot('auth/user/changepw', { name: 'oriel', password: 'second' })
      const writing = store.commit([put('a', '1')])
      await writeFile(etcdPasswordFile, 'second')
      await writing
      assert.equal(await next(), '1')
      await writeFile(etcdPasswordFile, 'third')
      await said(/credentials for etcd reloaded/)
      await etcd.restart()
      const refused = store.commit([put('a', '2')])
      await asRoot('auth/user/changepw', { name: 'oriel', password: 'third' })
      await refused
      assert.equal(await next(), '2')
      await store.close()
    })
  })
