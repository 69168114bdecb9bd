import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueAuthority, issueServing } from '../../cmd/certificates/certificates.ts'
import { type Address, Connection, tokenFile } from './connection.ts'
import { freePort, whenOpen } from './ports.ts'
import type { Side } from './sides.ts'

/** Runs `work` with a kcp process that has the users of these benchmarks. */
export async function withKcp<T>(
  program: string,
  directory: string,
  work: (kcp: Side) => Promise<T>,
): Promise<T> {
  const [port, client, peer] = await Promise.all([freePort(), freePort(), freePort()])
  const tokens = join(directory, 'tokens.csv')
  await writeFile(tokens, tokenFile)
  const { ca, flags } = await writeCertificates(directory)
  const args = [
    'start',
    `--root-directory=${join(directory, 'kcp')}`,
    ...flags,
    '--bind-address=127.0.0.1',
    '--external-hostname=127.0.0.1',
    `--secure-port=${port}`,
    `--embedded-etcd-client-port=${client}`,
    `--embedded-etcd-peer-port=${peer}`,
    `--token-auth-file=${tokens}`,
  ]
  const child = spawn(program, args, { stdio: 'ignore' })
  try {
    await whenOpen(port, 200)
    const address = { port, ca }
    await ready(address)
    return await work({ address, pid: child.pid ?? 0 })
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

async function writeCertificates(directory: string): Promise<{ ca: string; flags: readonly string[] }> {
  const authority = issueAuthority()
  const ca = authority.certificate
  const { certificate, key } = issueServing(authority, ['127.0.0.1', 'localhost'])
  const files = { cert: join(directory, 'kcp.crt'), key: join(directory, 'kcp.key') }
  await Promise.all([writeFile(files.cert, certificate + ca), writeFile(files.key, key)])
  return { ca, flags: [`--tls-cert-file=${files.cert}`, `--tls-private-key-file=${files.key}`] }
}

async function ready(address: Address): Promise<void> {
  const connection = await Connection.open(address)
  while ((await connection.read({ path: '/readyz' })).status !== 200) await sleep(200)
  connection.close()
}
