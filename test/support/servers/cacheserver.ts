import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { issueAuthority, type KeyPair } from '../../../cmd/certificates/certificates.ts'
import { type Client, clientOf } from '../client.ts'
import { issueClient } from '../clientcertificates.ts'
import { compiled, endOf, eventually, readText } from '../oriel.ts'

/** A running `oriel cache-server`. */
export interface CacheServer {
  readonly url: string
  output(): string
  /** A client with a certificate of this subject; without one, an anonymous client. */
  client(subject?: string): Promise<Client>
  stop(): Promise<number | null>
}

/** Writes a kubeconfig of a cache server, with a certificate of this subject; returns its path. */
export async function writeCacheKubeconfig(
  folder: string,
  authority: KeyPair,
  server: Pick<CacheServer, 'url'>,
  subject = 'CN=shard, O=system:masters',
): Promise<string> {
  const { certificate, key } = await issueClient(authority, { subject })
  // As in kcp's test server: the certificate of the server itself is the authority.
  const ca = await readText(join(folder, '.kcp-cache', 'apiserver.crt'))
  const file = join(folder, 'cache.kubeconfig')
  const cluster = { server: server.url, 'certificate-authority-data': base64(ca) }
  const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
  const named = {
    clusters: [{ name: 'cache', cluster }],
    users: [{ name: 'cache', user }],
    contexts: [{ name: 'cache', context: { cluster: 'cache', user: 'cache' } }],
  }
  await writeFile(
    file,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'cache', ...named }),
  )
  return file
}

/** The command line of kcp's sharded test server (cmd/sharded-test-server/cache.go, startCacheServer), with a free port. */
export const testServerLine = (folder: string): readonly string[] => [
  `--root-directory=${join(folder, '.kcp-cache')}`,
  '--bind-address=127.0.0.1',
  '--secure-port=0',
  '--synthetic-delay=0s',
  `--client-ca-file=${join(folder, 'client-ca.crt')}`,
  '--embedded-etcd-client-port=8010',
  '--embedded-etcd-peer-port=8011',
]

/** Writes a certificate authority of clients into a folder. */
export async function writeClientAuthority(folder: string): Promise<KeyPair> {
  const authority = issueAuthority()
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'client-ca.crt'), authority.certificate)
  return authority
}

export async function startCacheServer(
  folder: string,
  authority: KeyPair,
  more: readonly string[] = [],
): Promise<CacheServer> {
  const child = spawn(process.execPath, [compiled, 'cache-server', ...testServerLine(folder), ...more])
  const output = collected(child)
  const url = await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`the cache server ended: ${output()}`)
      return /Serving on (https:\/\/[^\s/,]+:\d+)/.exec(output())?.[1] ?? ''
    },
    found => found !== '',
  )
  // kcp's test server verifies the server by its own certificate.
  const ca = await readText(join(folder, '.kcp-cache', 'ca.crt'))
  const client = async (subject?: string): Promise<Client> => {
    const config = new KubeConfig()
    const identity = subject === undefined ? undefined : await issueClient(authority, { subject })
    config.loadFromClusterAndUser(
      { name: 'cache', server: url, caData: base64(ca), skipTLSVerify: false },
      {
        name: 'user',
        ...(identity && { certData: base64(identity.certificate), keyData: base64(identity.key) }),
      },
    )
    return clientOf(config)
  }
  return { url, output, client, stop: () => endOf(child, 'SIGTERM') }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function collected(child: ChildProcess): () => string {
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', text => chunks.push(text))
  return () => chunks.join('')
}
