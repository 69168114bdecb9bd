import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ownAdminTokens } from '../authentication/admins.ts'
import { issueAuthority, issueClient } from '../certificates/certificates.ts'
import { prepareServiceAccountKeys, signingFile } from '../certificates/serviceaccountkey.ts'
import { prepareServing, servingPaths } from '../certificates/servingfiles.ts'
import { readIfThere, writePrivately } from '../files/files.ts'
import { adminKubeconfig, userKubeconfig } from '../files/kubeconfig.ts'
import { StartError } from '../files/starterror.ts'
import { servingHosts } from '../flags/serving.ts'
import type { StartFlags } from '../flags/start.ts'
import type { AdminTokens } from '../process/worker.ts'
import { memberDirectory } from './layout.ts'

/** The common name of the certificate by which shards know the front proxy. */
export const proxyName = 'front-proxy'

/** The keys, certificates and tokens that the processes of `oriel start --shards` share. */
export interface SharedCredentials {
  readonly admins: AdminTokens
  /** The certificate authority of all serving certificates, PEM. */
  readonly authority: string
  /** File names. */
  readonly proxyAuthority: string
  readonly serviceAccountKey: string
  /** SharedCredentials for every shard; its server is the root shard when that one answers. */
  readonly shardsKubeconfig: string
  readonly mapping: string
  readonly kubeconfig: string
}

const pathsIn = (directory: string) => ({
  proxyAuthority: join(directory, 'requestheader-ca.crt'),
  proxyCertificate: join(directory, 'front-proxy.crt'),
  proxyKey: join(directory, 'front-proxy.key'),
  shardsKubeconfig: join(directory, 'shards.kubeconfig'),
  mapping: join(directory, 'mapping.yaml'),
})

/** Writes what all processes share, and the certificate authority into the directories of `members`. */
export async function prepareCredentials(
  flags: StartFlags,
  directory: string,
  members: readonly string[],
): Promise<SharedCredentials> {
  const { kubeconfigPath = 'admin.kubeconfig' } = flags
  const paths = pathsIn(directory)
  const kubeconfig = resolve(directory, kubeconfigPath)
  const admins = await ownAdminTokens(directory, kubeconfig)
  const { authority } = await prepareServing(directory, servingHosts(flags))
  for (const name of members) await copyAuthority(directory, memberDirectory(directory, name))
  await prepareServiceAccountKeys(directory, flags)
  await writeProxyCertificate(paths)
  const serviceAccountKey = signingFile(flags)?.path ?? join(directory, 'sa.key')
  const credentials = { admins, authority, kubeconfig, serviceAccountKey, ...paths }
  // The shards know each other's URLs from the Shard objects: they use the token and the authority only.
  await writeShardsKubeconfig(credentials, 'https://127.0.0.1:1')
  return credentials
}

async function copyAuthority(from: string, to: string): Promise<void> {
  const [source, target] = [servingPaths(from), servingPaths(to)]
  const [authority, key] = await Promise.all([source.authority, source.authorityKey].map(readIfThere))
  if (authority === undefined || key === undefined)
    throw new StartError(
      `${from} has a serving certificate without ${source.authorityKey}, and the shards need certificates of the same authority: choose another --data-directory.`,
    )
  await mkdir(to, { recursive: true, mode: 0o700 })
  await writePrivately(target.authorityKey, key)
  await writePrivately(target.authority, authority)
}

/** New at every start: all processes that use it start together. */
async function writeProxyCertificate(paths: ReturnType<typeof pathsIn>): Promise<void> {
  const authority = issueAuthority()
  const { certificate, key } = issueClient(authority, proxyName)
  await writePrivately(paths.proxyAuthority, authority.certificate)
  await writePrivately(paths.proxyCertificate, certificate)
  await writePrivately(paths.proxyKey, key)
}

/** Writes the kubeconfig with which shards and front proxy ask the shards. */
export const writeShardsKubeconfig = (
  { admins, authority, shardsKubeconfig }: SharedCredentials,
  server: string,
): Promise<void> =>
  writePrivately(
    shardsKubeconfig,
    userKubeconfig({ server, ca: authority, name: 'shard-admin', token: admins.shardAdminToken }),
  )

/** Writes the mapping file of the front proxy: every path of a workspace to its shard, all others to the root shard. */
export function writeMapping(directory: string, root: string): Promise<void> {
  const { proxyCertificate, proxyKey, mapping } = pathsIn(directory)
  const entry = (path: string): string =>
    [
      `- path: ${path}`,
      `  backend: ${root}`,
      `  backend_server_ca: ${JSON.stringify(servingPaths(directory).authority)}`,
      `  proxy_client_cert: ${JSON.stringify(proxyCertificate)}`,
      `  proxy_client_key: ${JSON.stringify(proxyKey)}\n`,
    ].join('\n')
  return writePrivately(mapping, ['/', '/services/', '/clusters/'].map(entry).join(''))
}

/** Writes the kubeconfig of the administrators: `kcp-admin` uses the front proxy, `shard-admin` the root shard. */
export const writeAdminKubeconfig = (
  { admins, authority, kubeconfig }: SharedCredentials,
  server: string,
  rootShard: string,
): Promise<void> =>
  writePrivately(kubeconfig, adminKubeconfig({ server, rootShard, ca: authority, ...admins }))
