import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { clientOf } from '../client.ts'
import { endOf, eventually, type Kubectl, kubectlFor } from '../oriel.ts'
import { root } from '../source.ts'
import { temporaryDirectory } from '../temporary.ts'
import { type Etcd, freePorts, startEtcd } from './etcd.ts'

/** A running API server of Kubernetes over its own etcd, without controllers and nodes. */
export interface KubeApiserver {
  /** As a member of system:masters. */
  readonly kubectl: Kubectl
  stop(): Promise<void>
}

export const noKubeApiserver = 'no kube-apiserver: with Go, run scripts/install-kube-apiserver.sh'

/** The program, of `scripts/install-kube-apiserver.sh` or in PATH; undefined without one. */
export const kubeApiserverProgram = (): string | undefined =>
  [join(root, '.tools'), ...(process.env.PATH ?? '').split(delimiter)]
    .map(folder => join(folder, 'kube-apiserver'))
    .find(each => existsSync(each))

const token = 'admin-token'

/** Starts etcd and the server on free ports, and waits until it is ready. */
export async function startKubeApiserver(program: string): Promise<KubeApiserver> {
  const directory = await temporaryDirectory('kube-apiserver')
  const etcd = await startEtcd()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = join(directory, 'service-account.key')
  await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(join(directory, 'tokens.csv'), `${token},admin,1,"system:masters"\n`)
  const [port = 0] = await freePorts(1)
  const child = spawn(program, flagsOf({ directory, etcd, key, port }), {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const config = new KubeConfig()
  const url = `https://127.0.0.1:${port}`
  config.loadFromClusterAndUser(
    { name: 'kubernetes', server: url, skipTLSVerify: true },
    { name: 'user', token },
  )
  const kubeconfig = join(directory, 'kubeconfig')
  await writeFile(kubeconfig, config.exportConfig())
  await ready(child, config)
  return {
    kubectl: kubectlFor({ kubeconfig, url, directory }, 'loaded-context'),
    stop: async () => {
      await endOf(child, 'SIGKILL')
      await etcd.stop()
    },
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
