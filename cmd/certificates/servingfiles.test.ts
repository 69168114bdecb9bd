import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { issueAuthority, issueClient, issueServing, type KeyPair } from './certificates.ts'
import { prepareServing, type ServingFiles, servingPaths } from './servingfiles.ts'

describe('serving certificates', () => {
  const hosts = ['localhost', '127.0.0.1', '::1', 'oriel.example.com']
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-certificates-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  /** Handshakes like a client that trusts the authority and expects a name; throws the error of the client. */
  async function handshake({ certificate, key, authority }: ServingFiles, servername: string): Promise<void> {
    const server = createServer({ cert: certificate, key }, socket => socket.end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      await once(connect({ host: '127.0.0.1', port, servername, ca: authority }).resume(), 'secureConnect')
    } finally {
      server.close()
    }
  }

  it('are generated, accepted for every name, and rejected for others', async () => {
    const files = await prepareServing(directory, hosts)
    for (const name of ['localhost', 'oriel.example.com']) await handshake(files, name)
    await assert.rejects(handshake(files, 'elsewhere.example.com'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    const certificate = new X509Certificate(files.certificate)
    for (const address of ['127.0.0.1', '::1']) assert.ok(certificate.checkIP(address), address)
  })

  it('stay the same, readable by their owner only', async () => {
    const files = await prepareServing(directory, hosts)
    assert.deepEqual(await prepareServing(directory, hosts), files)
    for (const path of Object.values(servingPaths(directory)))
      assert.equal((await stat(path)).mode & 0o777, 0o600)
  })

  it('are not renewed while the clock is set to a time before the authority was issued', async () => {
    const files = await prepareServing(directory, hosts)
    const now = Date.now
    Date.now = () => now() - 7_200_000
    try {
      await assert.rejects(prepareServing(directory, hosts), { message: /set the clock of this machine/ })
    } finally {
      Date.now = now
    }
    assert.deepEqual(await prepareServing(directory, hosts), files)
  })

  it('are renewed under the same authority for another name, or when damaged or missing', async () => {
    const files = await prepareServing(directory, hosts)
    const paths = servingPaths(directory)
    const renewals = [
      await prepareServing(directory, [...hosts, 'new.example.com']),
      await writeFile(paths.certificate, 'nonsense').then(() => prepareServing(directory, hosts)),
      await rm(paths.key).then(() => prepareServing(directory, hosts)),
    ]
    for (const renewed of renewals) {
      assert.equal(renewed.authority, files.authority)
      assert.notEqual(renewed.certificate, files.certificate)
      await handshake(renewed, 'localhost')
    }
  })

  it('get a new authority when its key does not match', async () => {
    const files = await prepareServing(directory, hosts)
    const paths = servingPaths(directory)
    await writeFile(paths.authorityKey, issueAuthority().key)
    await rm(paths.certificate)
    const renewed = await prepareServing(directory, hosts)
    assert.notEqual(renewed.authority, files.authority)
    await handshake(renewed, 'localhost')
  })

  it('of an operator are used unchanged', async () => {
    const authority = issueAuthority()
    const serving = issueServing(authority, ['other.example.com'])
    const paths = servingPaths(directory)
    await writeFile(paths.authority, authority.certificate)
    await writeFile(paths.certificate, serving.certificate)
    await writeFile(paths.key, serving.key)
    assert.equal((await prepareServing(directory, hosts)).certificate, serving.certificate)
    await writeFile(paths.certificate, 'nonsense')
    await assert.rejects(
      prepareServing(directory, hosts),
      /apiserver.crt is invalid or has expired: replace it/,
    )
  })

  describe('of an operator beside the authority of the server', () => {
    const refused = /apiserver.crt is not a certificate of this server.*give it with --tls-cert-file/

    async function supply(authority: KeyPair): Promise<KeyPair> {
      const own = issueClient(authority, 'oriel.example.com')
      const paths = servingPaths(directory)
      await writeFile(paths.certificate, own.certificate)
      await writeFile(paths.key, own.key)
      return own
    }

    it('are used when it has signed them', async () => {
      const { authority } = await prepareServing(directory, hosts)
      const key = await readFile(servingPaths(directory).authorityKey, 'utf8')
      const own = await supply({ certificate: authority, key })
      assert.equal((await prepareServing(directory, hosts)).certificate, own.certificate)
    })

    it('are refused when another one has signed them, and not replaced', async () => {
      await prepareServing(directory, hosts)
      const paths = servingPaths(directory)
      const own = await supply(issueAuthority())
      await assert.rejects(prepareServing(directory, hosts), refused)
      await rm(paths.authority)
      await assert.rejects(prepareServing(directory, hosts), refused)
      assert.equal(await readFile(paths.key, 'utf8'), own.key)
      assert.equal(await readFile(paths.certificate, 'utf8'), own.certificate)
    })
  })
})
