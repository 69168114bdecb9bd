import { Backoff } from '../../framework/async/backoff.ts'
import { type JsonClient, jsonClient } from '../../framework/net/jsonclient.ts'
import type { FrontProxyFlags } from '../flags/frontproxy.ts'
import { publicUrl } from '../flags/serving.ts'
import type { StartFlags } from '../flags/start.ts'
import {
  proxyName,
  type SharedCredentials,
  writeAdminKubeconfig,
  writeMapping,
  writeShardsKubeconfig,
} from './credentials.ts'
import { memberDirectory } from './layout.ts'
import type { MemberConfig } from './member.ts'
import type { MemberProcesses } from './memberprocesses.ts'

/** What `oriel start --shards` starts. */
export interface ShardInstallation {
  readonly given: StartFlags
  /** With the port of the front proxy. */
  readonly flags: StartFlags
  /** The data directory. */
  readonly directory: string
  /** The names of the shards; the first is the root shard. */
  readonly names: readonly string[]
  readonly credentials: SharedCredentials
  readonly members: MemberProcesses
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/** Starts the root shard, the other shards and the front proxy, and returns the banner when all of them are in use. */
export async function bringUp(installation: ShardInstallation, say: (text: string) => void): Promise<string> {
  const { names, members, credentials, directory, flags } = installation
  const [root = '', ...others] = names
  say(`Starting: shard ${root}`)
  const rootUrl = await members.start(root, shardConfig(installation, 0))
  await writeShardsKubeconfig(credentials, rootUrl)
  say(`Starting: ${others.join(', ')}`)
  const urls = await Promise.all(
    others.map((name, i) => members.start(name, shardConfig(installation, i + 1))),
  )
  say('Starting: front proxy')
  await writeMapping(directory, rootUrl)
  await members.start(proxyName, proxyConfig(installation))
  const url = publicUrl(flags)
  await writeAdminKubeconfig(credentials, url, rootUrl)
  say('Waiting for the front proxy to know all shards')
  await untilKnown(installation, { url, rootUrl })
  return banner(installation, url, [rootUrl, ...urls])
}

const common = ({
  credentials,
  directory,
}: ShardInstallation): Pick<MemberConfig, 'admins' | 'usersDirectory'> => ({
  admins: credentials.admins,
  usersDirectory: directory,
})

/** The port of a shard follows those of the front proxy and of the shards before it. */
function shardConfig(installation: ShardInstallation, index: number): MemberConfig {
  const { given, flags, credentials, directory, names } = installation
  const { kubeconfigPath: _, ...rest } = flags
  const name = names[index] ?? ''
  const { shardsKubeconfig } = credentials
  return {
    ...common(installation),
    kind: 'shard',
    flags: {
      ...rest,
      dataDirectory: memberDirectory(directory, name),
      port: given.port === 0 ? 0 : given.port + 1 + index,
      shardName: name,
      shardExternalUrl: publicUrl(flags),
      logicalClusterAdminKubeconfig: shardsKubeconfig,
      ...(index > 0 && { rootShardKubeconfigFile: shardsKubeconfig }),
      requestheaderClientCaFile: credentials.proxyAuthority,
      requestheaderAllowedNames: [proxyName],
      serviceAccountSigningKeyFile: credentials.serviceAccountKey,
    },
  }
}

function proxyConfig(installation: ShardInstallation): MemberConfig {
  const { flags, credentials, directory } = installation
  const { shardsKubeconfig, mapping } = credentials
  const proxyFlags: FrontProxyFlags = {
    ...flags,
    dataDirectory: memberDirectory(directory, proxyName),
    mappingFile: mapping,
    rootKubeconfig: shardsKubeconfig,
    shardsKubeconfig,
  }
  return { ...common(installation), kind: 'front-proxy', flags: proxyFlags }
}

const shardList = '/clusters/root/apis/core.kcp.io/v1alpha1/shards'

/** Until workspaces can be created on every shard, and the front proxy knows where they are. */
async function untilKnown(
  { names, credentials, signal }: ShardInstallation,
  { url, rootUrl }: { readonly url: string; readonly rootUrl: string },
): Promise<void> {
  const { admins, authority: ca } = credentials
  const root = jsonClient({ server: rootUrl, ca, token: admins.shardAdminToken })
  const proxy = jsonClient({ server: url, ca, token: admins.kcpAdminToken })
  const backoff = new Backoff({ first: 50, longest: 500 })
  while (!(await listsAll(root, names)) || !(await answers(proxy))) await backoff.pause(signal)
}

async function listsAll(root: JsonClient, names: readonly string[]): Promise<boolean> {
  const { body } = await root(shardList)
  const { items = [] } = (body ?? {}) as { items?: readonly { metadata: { name: string } }[] }
  return names.every(name => items.some(({ metadata }) => metadata.name === name))
}

const answers = async (proxy: JsonClient): Promise<boolean> =>
  (await proxy('/readyz')).status === 200 && (await proxy(shardList)).status === 200

function banner(
  { names, credentials, directory }: ShardInstallation,
  url: string,
  urls: readonly string[],
): string {
  const width = Math.max(proxyName.length, ...names.map(name => name.length))
  const line = (name: string, at: string): string =>
    `  ${name.padEnd(width)}  ${at}  ${memberDirectory(directory, name)}`
  return [
    `Oriel serves ${url} (ready in ${Math.round(performance.now())} ms): ${names.length} shards behind a front proxy.`,
    line(proxyName, url),
    ...names.map((name, i) => line(name, urls[i] ?? '')),
    '',
    'Next, in another terminal:',
    `  export KUBECONFIG=${credentials.kubeconfig}`,
    '  kubectl get shards',
    '  kubectl get workspaces',
    '',
  ].join('\n')
}
