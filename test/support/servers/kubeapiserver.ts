import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { clientOf } from '../client.ts'
import { endOf, eventually, type Kubectl, kubectlFor, readText } from '../oriel.ts'
import { root } from '../source.ts'
import { temporaryDirectory } from '../temporary.ts'
import { type Etcd, freePorts, startEtcd } from './etcd.ts'

/** A running API server of Kubernetes over its own etcd, without controllers and nodes. */
export interface KubeApiserver {
  /** As a member of system:masters. */
  readonly kubectl: Kubectl
  readonly pid: number
  readonly port: number
  /** PEM of the authority of its certificate. */
  readonly ca: string
  stop(): Promise<void>
}

export const noKubeApiserver = 'no kube-apiserver: with Go, run scripts/install-kube-apiserver.sh'

/** The program, of `scripts/install-kube-apiserver.sh` or in PATH; undefined without one. */
export const kubeApiserverProgram = (): string | undefined =>
  [join(root, '.tools'), ...(process.env.PATH ?? '').split(delimiter)]
    .map(folder => join(folder, 'kube-apiserver'))
    .find(each => existsSync(each))

/** The bearer token of a member of system:masters. */
export const kubeApiserverToken = 'admin-token'

/** Starts etcd and the server on free ports, and waits until it is ready. */
export async function startKubeApiserver(program: string): Promise<KubeApiserver> {
  const etcd = await startEtcd()
  const server = await startKubeApiserverOver(program, etcd)
  return {
    ...server,
    async stop() {
      await server.stop()
      await etcd.stop()
    },
  }
}

/** Starts the server over an etcd that runs, and waits until it is ready. */
export async function startKubeApiserverOver(program: string, etcd: Etcd): Promise<KubeApiserver> {
  const directory = await temporaryDirectory('kube-apiserver')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = join(directory, 'service-account.key')
  await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(join(directory, 'tokens.csv'), `${kubeApiserverToken},admin,1,"system:masters"\n`)
  const [port = 0] = await freePorts(1)
  const child = spawn(program, flagsOf({ directory, etcd, key, port }), {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const config = new KubeConfig()
  const url = `https://127.0.0.1:${port}`
  config.loadFromClusterAndUser(
    { name: 'kubernetes', server: url, skipTLSVerify: true },
    { name: 'user', token: kubeApiserverToken },
  )
  const kubeconfig = join(directory, 'kubeconfig')
  await writeFile(kubeconfig, config.exportConfig())
  await ready(child, config)
  return {
    kubectl: kubectlFor({ kubeconfig, url, directory }, 'loaded-context'),
    pid: child.pid ?? 0,
    port,
    ca: await readText(join(directory, 'apiserver.crt')),
    stop: async () => void (await endOf(child, 'SIGKILL')),
  }
}

interface Given {
  readonly directory: string
  readonly etcd: Etcd
  readonly key: string
  readonly port: number
}

const flagsOf = ({ directory, etcd, key, port }: Given): readonly string[] => [
  ...['--etcd-servers', etcd.url, '--secure-port', String(port), '--bind-address', '127.0.0.1'],
  ...['--cert-dir', directory, '--token-auth-file', join(directory, 'tokens.csv')],
  ...['--service-account-issuer', 'https://kubernetes.default.svc', '--service-account-key-file', key],
  ...['--service-account-signing-key-file', key, '--service-cluster-ip-range', '10.96.0.0/16'],
]

async function ready(child: ChildProcess, config: KubeConfig): Promise<void> {
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', chunk => {
    output = `${output}${chunk}`.slice(-4_000)
  })
  const client = await clientOf(config)
  await eventually(
    () => {
      if (child.exitCode !== null) throw new Error(`kube-apiserver ended with ${child.exitCode}:\n${output}`)
      return client('/readyz').catch(() => undefined)
    },
    reply => reply?.status === 200,
  )
  client.close()
}
