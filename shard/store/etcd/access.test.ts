import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'
import { put } from '../../../test/contract/store/opened.ts'
import { issueClient } from '../../../test/support/clientcertificates.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { temporaryDirectory } from '../../../test/support/temporary.ts'
import { StoreError } from '../store.ts'
import { type EtcdOptions, openEtcdStore } from './etcd.ts'

/** The value of `--auth-token` for tokens that every member checks by itself: they name the revision of the users. */
async function signedTokens(): Promise<string> {
  const folder = await temporaryDirectory('etcd-tokens')
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await writeFile(join(folder, 'public.pem'), publicKey)
  await writeFile(join(folder, 'private.pem'), privateKey)
  return `jwt,pub-key=${folder}/public.pem,priv-key=${folder}/private.pem,sign-method=RS256,ttl=10m`
}

const as =
  (name: string, password = 'p') =>
  () => ({ user: { name, password } })

if (etcdProgram() === undefined) notRun('access to etcd', noEtcd)
else
  describe('access to etcd', () => {
    const base = { prefix: '/oriel', compactEvery: 0, patience: 3_000 }
    let etcd: Etcd
    afterEach(() => etcd.stop())

    async function writes(options: Omit<EtcdOptions, keyof typeof base>): Promise<void> {
      const store = await openEtcdStore({ ...base, ...options })
      const watched = store.watch('', store.revision, AbortSignal.timeout(10_000)).next()
      await store.commit([put('a', '1')])
      assert.equal((await watched).done, false)
      await store.close()
    }

    it('uses TLS with a client certificate', async () => {
      const folder = await temporaryDirectory('etcd-tls')
      const authority = issueAuthority()
      const serving = issueServing(authority, ['127.0.0.1'])
      const client = await issueClient(authority, { subject: 'CN=oriel' })
      const file = async (name: string, text: string) => {
        await writeFile(join(folder, name), text)
        return join(folder, name)
      }
      const ca = await file('ca.pem', authority.certificate)
      const cert = await file('cert.pem', serving.certificate)
      const key = await file('key.pem', serving.key)
      const args = ['--client-cert-auth', '--trusted-ca-file', ca, '--cert-file', cert, '--key-file', key]
      etcd = await startEtcd(args, 'https')
      const pem = (text: string) => Buffer.from(text)
      const tls = {
        ca: pem(authority.certificate),
        certificate: pem(client.certificate),
        key: pem(client.key),
      }
      await writes({ endpoints: [etcd.endpoint], credentials: () => ({ tls }) })
      const foreign = { tls: { ...tls, ca: pem(issueAuthority().certificate) } }
      await assert.rejects(
        openEtcdStore({ ...base, endpoints: [etcd.endpoint], credentials: () => foreign, patience: 500 }),
        StoreError,
      )
    })

    async function addUsers(): Promise<void> {
      for (const name of ['root', 'oriel', 'other']) await etcd.post('auth/user/add', { name, password: 'p' })
      for (const name of ['root', 'oriel']) await etcd.post('auth/role/add', { name })
      const all = { permType: 'READWRITE', key: 'L29yaWVsLw==', range_end: 'L29yaWVsMA==' }
      await etcd.post('auth/role/grant', { name: 'oriel', perm: all })
      for (const user of ['root', 'oriel']) await etcd.post('auth/user/grant', { user, role: user })
      await etcd.post('auth/enable', {})
    }

    /** Adds a user to etcd, as an administrator does at any time. */
    async function addAnother(name: string): Promise<void> {
      const { token } = await etcd.post('auth/authenticate', { name: 'root', password: 'p' })
      const headers = { authorization: String(token) }
      const body = JSON.stringify({ name, password: 'p' })
      const response = await fetch(`${etcd.url}/v3/auth/user/add`, { method: 'POST', headers, body })
      assert.equal(response.status, 200)
    }

    it('goes on when the users of etcd change, after which its signed tokens are not valid any more', async () => {
      etcd = await startEtcd(['--auth-token', await signedTokens()])
      await addUsers()
      const store = await openEtcdStore({ ...base, endpoints: [etcd.endpoint], credentials: as('oriel') })
      await store.commit([put('a', '1')])
      await addAnother('more')
      assert.ok((await store.commit([put('a', '2')])) > 0)
      await addAnother('most')
      assert.equal((await store.get('a'))?.value.toString(), '2')
      const watched = store.watch('', store.revision, AbortSignal.timeout(10_000)).next()
      await addAnother('still')
      const written = store.commit([put('a', '3')])
      assert.equal((await watched).done, false)
      await written
      await store.close()
    })

    it('goes on with all requests at a time when etcd was restarted, which forgets its tokens', async () => {
      etcd = await startEtcd()
      await addUsers()
      const store = await openEtcdStore({ ...base, endpoints: [etcd.endpoint], credentials: as('oriel') })
      await store.commit([put('a', '1')])
      await etcd.restart()
      const writes = Array.from({ length: 20 }, (_, i) => store.commit([put(`k${i}`, '1', 0)]))
      const reads = Array.from({ length: 20 }, () => store.get('a'))
      for (const read of await Promise.all(reads)) assert.equal(read?.value.toString(), '1')
      assert.equal(new Set(await Promise.all(writes)).size, writes.length)
      await store.close()
    })

    it('uses a user and a password', async () => {
      etcd = await startEtcd()
      await addUsers()
      const endpoints = [etcd.endpoint]
      await writes({ endpoints, credentials: as('oriel') })
      await assert.rejects(
        openEtcdStore({ ...base, endpoints }),
        /refused the credentials: .*user name is empty/,
      )
      await assert.rejects(
        openEtcdStore({ ...base, endpoints, credentials: as('oriel', 'wrong') }),
        /refused the credentials: .*invalid user ID or password. Check --etcd-user and --etcd-password-file/,
      )
      await assert.rejects(
        openEtcdStore({ ...base, endpoints, credentials: as('other') }),
        /denied access: .*permission denied. Grant the user the role/,
      )
    })

    it('refuses writes of a full etcd with 507, but deletes and reads', async () => {
      etcd = await startEtcd(['--quota-backend-bytes', String(2 ** 20)])
      const store = await openEtcdStore({ ...base, endpoints: [etcd.endpoint] })
      const big = 'x'.repeat(200_000)
      const fill = async () => {
        for (let i = 0; ; i++) await store.commit([put(`k${i}`, big)])
      }
      await assert.rejects(fill(), { code: 507, reason: 'InsufficientStorage' })
      const value = await store.get('k0')
      const removed = await store.commit([{ key: 'k0', value: undefined, expected: value?.modified ?? 0 }])
      assert.equal(await store.latest(), removed)
      assert.equal(await store.get('k0'), undefined)
      await store.close()
    })
  })
