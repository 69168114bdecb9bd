import { join } from 'node:path'
import type { SharedFiles } from '../../shard/store/etcd/sharedfiles.ts'
import { issueAuthority } from '../certificates/certificates.ts'
import { type AccountKeyFiles, newServiceAccountKey, signingFile } from '../certificates/serviceaccountkey.ts'
import { isUsableAuthority, servingPaths } from '../certificates/servingfiles.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { readIfThere, writePrivately } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'
import { etcdOptions } from '../files/store.ts'
import type { EtcdFlags } from '../flags/etcd.ts'
import type { AdminTokens } from '../process/worker.ts'

export interface SharedKeysOptions {
  /** The data directory. */
  readonly directory: string
  /** `--store` */
  readonly where: string
  readonly flags: EtcdFlags & AccountKeyFiles
  /** The tokens of administrators in the data directory, or new ones. */
  readonly ownTokens: () => Promise<AdminTokens>
}

/**
 * Brings the keys of the installation from etcd into the data directory; the first server creates them, from those in its data
 * directory if there are any. Returns the tokens of the administrators; undefined for stores that are not shared, and with
 * `--etcd-shared-keys=false`. Throws `StartError` for a data directory of another installation.
 */
export async function prepareSharedKeys(options: SharedKeysOptions): Promise<AdminTokens | undefined> {
  const { where, flags } = options
  if (!isEtcd(where)) return undefined
  const { openSharedFiles } = await import('../../shard/store/etcd/sharedfiles.ts')
  const files = await openSharedFiles(await etcdOptions(where, flags))
  try {
    const isKnown = await checkInstallation(options, files.installation)
    return flags.etcdSharedKeys ? await bring(options, files, isKnown) : await requireKeys(options)
  } finally {
    files.close()
  }
}

const installationIn = (directory: string): string => join(directory, 'installation')

/** Whether the data directory belongs to the installation already. */
async function checkInstallation({ directory, flags }: SharedKeysOptions, uid: string): Promise<boolean> {
  const known = (await readIfThere(installationIn(directory)))?.toString()
  if (known === undefined || known === uid) return known === uid
  throw new StartError(
    `${directory} is the data directory of another installation than the one in etcd at ${flags.etcdPrefix}: ` +
      'choose another --data-directory or --etcd-prefix. After etcd has lost its data, remove the file "installation" there.',
  )
}

async function bring(options: SharedKeysOptions, files: SharedFiles, isKnown: boolean): Promise<AdminTokens> {
  const { directory, flags, ownTokens } = options
  const paths = servingPaths(directory)
  const place = async (path: string, content: string): Promise<void> => {
    const own = (await readIfThere(path))?.toString()
    if (own === content) return
    if (own !== undefined && !isKnown) throw otherKeys(options, path)
    await writePrivately(path, content)
  }
  if (signingFile(flags) === undefined) {
    const path = join(directory, 'sa.key')
    const own = async () => (await readIfThere(path)) ?? Buffer.from(newServiceAccountKey())
    const shared = (await files.share('sa.key', own)).toString()
    if (isKnown) await refuseChanged(path, shared)
    await place(path, shared)
  }
  if (!(await isSupplied(directory))) {
    const shared = await files.share('ca.json', () => ownAuthority(directory), isUsableRecord)
    const { certificate, key } = authorityIn(shared)
    await place(paths.authorityKey, key)
    await place(paths.authority, certificate)
  }
  const tokens = await files.share('admins.json', async () => Buffer.from(JSON.stringify(await ownTokens())))
  await writePrivately(installationIn(directory), files.installation)
  return JSON.parse(tokens.toString()) as AdminTokens
}

const otherKeys = ({ directory, flags }: SharedKeysOptions, path: string): Error =>
  new StartError(
    `${path} differs from the key of the installation in etcd at ${flags.etcdPrefix}: start with an empty ` +
      `--data-directory instead of ${directory}, or choose another --etcd-prefix.`,
  )

/** A key that an operator has put there would not sign, and would be lost. */
async function refuseChanged(path: string, shared: string): Promise<void> {
  const own = (await readIfThere(path))?.toString()
  if (own === undefined || own === shared) return
  throw new StartError(
    `${path} differs from the key of the installation in etcd: move it elsewhere, and give the keys to all servers with ` +
      '--service-account-key-file, first with the new key behind the former one, then before it.',
  )
}

/** Whether an operator supplies the serving certificate: then there is no key of the authority. */
async function isSupplied(directory: string): Promise<boolean> {
  const paths = servingPaths(directory)
  const [authority, key] = await Promise.all([paths.authority, paths.authorityKey].map(readIfThere))
  return authority !== undefined && key === undefined
}

async function ownAuthority(directory: string): Promise<Buffer> {
  const paths = servingPaths(directory)
  const [certificate, key] = await Promise.all([paths.authority, paths.authorityKey].map(readIfThere))
  const own = certificate && key && { certificate: certificate.toString(), key: key.toString() }
  const kept = own && isUsableAuthority(own) ? own : issueAuthority()
  return Buffer.from(JSON.stringify(kept))
}

const authorityIn = (record: Buffer): ReturnType<typeof issueAuthority> => JSON.parse(record.toString())

const isUsableRecord = (record: Buffer): boolean => isUsableAuthority(authorityIn(record))

/** Without shared keys, every server needs a copy of the same ones. */
async function requireKeys({ directory, flags }: SharedKeysOptions): Promise<undefined> {
  const needed = [
    servingPaths(directory).authority,
    ...(signingFile(flags) === undefined ? [join(directory, 'sa.key')] : []),
  ]
  for (const path of needed) {
    if ((await readIfThere(path)) !== undefined) continue
    throw new StartError(
      `--etcd-shared-keys=false, and ${path} is missing: copy the keys of the installation to every data directory, or ` +
        'let the servers share them in etcd.',
    )
  }
  return undefined
}
