import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { silent } from '../../framework/contract/log.ts'
import { type Listener, listen } from '../../framework/server/listener.ts'
import { writePrivately } from '../files/files.ts'
import { issueAuthority, issueServing, type KeyPair } from './certificates.ts'
import { watchCertificate } from './certificatewatch.ts'
import { servingPaths } from './servingfiles.ts'

describe('certificate watch', () => {
  const stop = new AbortController()
  let directory: string
  let authority: KeyPair
  let listener: Listener
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-watch-'))
    authority = issueAuthority()
  })
  after(async () => {
    stop.abort()
    await listener.drain(0)
    await rm(directory, { recursive: true })
  })

  async function write(pair: KeyPair): Promise<void> {
    const paths = servingPaths(directory)
    await writePrivately(paths.authority, authority.certificate)
    await writePrivately(paths.key, pair.key)
    await writePrivately(paths.certificate, pair.certificate)
  }

  async function connected(): Promise<TLSSocket> {
    const socket = connect({
      port: listener.port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: authority.certificate,
    })
    await once(socket, 'secureConnect')
    return socket
  }

  /** Resolves with the next log line, so that tests need no delays. */
  const changes = () => {
    const events: string[] = []
    let wake = (): void => undefined
    const note = (_fields: object, message: string): void => {
      events.push(message)
      wake()
    }
    const next = async (): Promise<string> => {
      while (events.length === 0) await new Promise<void>(resolve => (wake = resolve))
      return events.shift() ?? ''
    }
    return { log: { ...silent, warn: note, error: note }, next }
  }

  it('uses a new certificate, keeps open connections, and ignores an invalid certificate', async () => {
    const [first, second] = [issueServing(authority, ['localhost']), issueServing(authority, ['localhost'])]
    await write(first)
    const tls = { cert: first.certificate, key: first.key }
    listener = await listen(
      { host: '127.0.0.1', port: 0, tls },
      (_request, response) => void response.end('here'),
    )
    const { log, next } = changes()
    const following = { directory, hosts: ['localhost'], current: tls, server: listener }
    watchCertificate({ ...following, log, signal: stop.signal })

    const open = await connected()
    await write(second)
    assert.match((await next()) ?? '', /^serving certificate .*apiserver\.crt reloaded$/)
    const fresh = await connected()
    assert.notEqual(fresh.getPeerCertificate().fingerprint256, open.getPeerCertificate().fingerprint256)
    open.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    assert.match(String(await once(open, 'data')), /200 OK/)

    await writePrivately(servingPaths(directory).certificate, 'nonsense')
    assert.match(await next(), /the changed serving certificate .*apiserver\.crt cannot be used/)
    const still = await connected()
    assert.equal(still.getPeerCertificate().fingerprint256, fresh.getPeerCertificate().fingerprint256)
    for (const socket of [open, fresh, still]) socket.destroy()
  })
})
