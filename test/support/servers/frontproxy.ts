import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { issueAuthority } from '../../../cmd/certificates/certificates.ts'
import { type Client, clientOf } from '../client.ts'
import { issueClient } from '../clientcertificates.ts'
import { compiled, eventually, type Kubectl, kubectlFor, type Oriel, readText } from '../oriel.ts'

/** A running `oriel front-proxy`. */
export interface FrontProxy {
  readonly url: string
  output(): string
  /** A kubeconfig of the user with this token, or without credentials. */
  config(token?: string): KubeConfig
  /** A client with the same credentials. */
  client(token?: string): Promise<Client>
  /** As the administrator. */
  readonly kubectl: Kubectl
  stop(): Promise<void>
}

/** The certificate authority of front proxies, and the flags with which shards accept their headers. */
export async function writeProxyAuthority(folder: string): Promise<readonly string[]> {
  const authority = issueAuthority()
  const { certificate, key } = await issueClient(authority, { subject: 'CN=front-proxy' })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'requestheader-ca.crt'), authority.certificate)
  await writeFile(join(folder, 'proxy.crt'), certificate)
  await writeFile(join(folder, 'proxy.key'), key)
  await writeFile(join(folder, 'shard-tokens.csv'), `${shardToken},shards,1,"system:masters"\n`)
  return [
    ...['--requestheader-client-ca-file', join(folder, 'requestheader-ca.crt')],
    ...['--token-auth-file', join(folder, 'shard-tokens.csv')],
  ]
}

export interface FrontProxyOptions {
  /** The directory of `writeProxyAuthority`; also for other files of the proxy. */
  readonly folder: string
  readonly name: string
  /** The first is the root shard. */
  readonly shards: readonly Oriel[]
  readonly args?: readonly string[]
  /** Mappings besides those to the shards, as in the file. */
  readonly mappings?: readonly object[]
}

/** Users of the proxy: the administrator, and one without permissions. */
const tokens = 'admin-token,admin,1,"system:kcp:admin"\nnobody-token,nobody,2\n'

export async function startFrontProxy({
  folder,
  name,
  shards,
  args = [],
  mappings = [],
}: FrontProxyOptions): Promise<FrontProxy> {
  const [first] = shards
  if (first === undefined) throw new Error('a front proxy needs a shard')
  const file = (of: string) => join(folder, `${name}-${of}`)
  const cas = await Promise.all(shards.map(shard => readText(join(shard.directory, 'ca.crt'))))
  await writeFile(file('ca.crt'), cas.join('\n'))
  await writeFile(file('tokens.csv'), tokens)
  const others = mappings.map(mapping => `- ${JSON.stringify(mapping)}\n`).join('')
  await writeFile(file('mapping.yaml'), mappingFile(folder, file('ca.crt'), first.url) + others)
  await writeFile(file('shards.kubeconfig'), privileged(first.url, cas))
  const given = [
    ...['--mapping-file', file('mapping.yaml'), '--token-auth-file', file('tokens.csv')],
    ...['--root-kubeconfig', file('shards.kubeconfig'), '--shards-kubeconfig', file('shards.kubeconfig')],
    ...['--data-directory', file('data'), '--port', '0', '--external-url', first.url, ...args],
  ]
  const child = spawn(process.execPath, [compiled, 'front-proxy', ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => printed.push(text))
  const output = () => printed.join('')
  const url = await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`the front proxy ended: ${output()}`)
      return /https:\/\/[^\s/,]+:\d+/.exec(output())?.[0]
    },
    found => found !== undefined,
  )
  if (url === undefined) throw new Error('unreachable')
  const ca = await readText(join(file('data'), 'ca.crt'))
  const config = (token?: string) => configFor(url, ca, token)
  const client = (token?: string) => clientOf(config(token))
  const kubeconfig = file('admin.kubeconfig')
  await writeFile(kubeconfig, configFor(url, ca, 'admin-token').exportConfig())
  const kubectl = kubectlFor({ kubeconfig, url, directory: file('data') }, 'loaded-context')
  return {
    url,
    output,
    config,
    client,
    kubectl,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

const mappingFile = (folder: string, ca: string, backend: string): string =>
  ['/clusters/', '/services/']
    .map(path =>
      [
        `- path: ${path}`,
        `  backend: ${backend}`,
        `  backend_server_ca: ${ca}`,
        `  proxy_client_cert: ${join(folder, 'proxy.crt')}`,
        `  proxy_client_key: ${join(folder, 'proxy.key')}\n`,
      ].join('\n'),
    )
    .join('')

function configFor(server: string, ca: string, token: string | undefined): KubeConfig {
  const config = new KubeConfig()
  const caData = Buffer.from(ca).toString('base64')
  config.loadFromClusterAndUser(
    { name: 'proxy', server, caData, skipTLSVerify: false },
    { name: 'user', ...(token && { token }) },
  )
  return config
}

/** The token of the proxies' own requests to every shard. */
const shardToken = 'shards-token'

export function privileged(server: string, cas: readonly string[]): string {
  const ca = Buffer.from(cas.join('\n')).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'root',
    clusters: [{ name: 'root', cluster: { server, 'certificate-authority-data': ca } }],
    contexts: [{ name: 'root', context: { cluster: 'root', user: 'root' } }],
    users: [{ name: 'root', user: { token: shardToken } }],
  })
}
