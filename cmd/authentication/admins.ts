import { randomUUID } from 'node:crypto'
import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sha256, type TokenUser } from '../../framework/authn/index.ts'
import { systemMasters } from '../../framework/request/user.ts'
import { adminTokenFile } from '../files/directory.ts'
import { readIfThere, writePrivately } from '../files/files.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import type { AdminTokens } from '../process/worker.ts'

/** The built-in administrators with their tokens (kcp `pkg/server/options/authentication.go`, AdminAuthentication). */
export interface Admins extends AdminTokens {
  readonly users: readonly TokenUser[]
}

/**
 * `kcp-admin` gets a new token at every start. `shard-admin` keeps its token: the kubeconfig has it in plain
 * text, the data directory only its SHA-256. Throws `StartError` when the two do not match. `shared`: the tokens of
 * all servers of the installation.
 */
export async function prepareAdmins(
  directory: string,
  kubeconfig: string,
  shared?: AdminTokens,
): Promise<Admins> {
  const { kcpAdminToken, shardAdminToken } = shared ?? (await ownAdminTokens(directory, kubeconfig))
  if (shared !== undefined) await writePrivately(adminTokenFile(directory), sha256(shardAdminToken))
  const tokens = { kcpAdminToken, shardAdminToken }
  return { ...tokens, users: adminUsers(tokens) }
}

/** The administrators with these tokens. */
export const adminUsers = ({ kcpAdminToken, shardAdminToken }: AdminTokens): readonly TokenUser[] => [
  tokenUser('kcp-admin', 'system:kcp:admin', kcpAdminToken),
  tokenUser('shard-admin', systemMasters, shardAdminToken),
]

/** A new token of `kcp-admin`, and that of `shard-admin` in the data directory. */
export const ownAdminTokens = async (directory: string, kubeconfig: string): Promise<AdminTokens> => ({
  kcpAdminToken: randomUUID(),
  shardAdminToken: await persistentToken(adminTokenFile(directory), kubeconfig),
})

const tokenUser = (name: string, group: string, token: string): TokenUser => ({
  sha256: sha256(token),
  user: { name, uid: randomUUID(), groups: [group] },
})

async function persistentToken(store: string, kubeconfig: string): Promise<string> {
  const digest = await readIfThere(store)
  const known = digest === undefined ? undefined : await tokenIn(kubeconfig, 'shard-admin')
  if (digest !== undefined && known !== undefined) {
    if (sha256(known).equals(digest)) return known
    throw new StartError(
      `The shard-admin token in ${kubeconfig} is no longer valid, because a later start has written a new one to another --kubeconfig-path: ` +
        `give that path, or remove ${store} to get a new token in this file.`,
    )
  }
  await checkPlace(kubeconfig)
  const token = randomUUID()
  await writePrivately(store, sha256(token))
  return token
}

/** The kubeconfig with a new token is written later: where it cannot be, the token in another file stays valid. */
async function checkPlace(kubeconfig: string): Promise<void> {
  try {
    await access(dirname(kubeconfig), constants.W_OK)
  } catch (error) {
    throw new StartError(
      `${kubeconfig} cannot be written (${codeOf(error)}): choose another --kubeconfig-path, or make its directory.`,
    )
  }
}

async function tokenIn(kubeconfig: string, user: string): Promise<string | undefined> {
  const written = await readIfThere(kubeconfig)
  if (written === undefined) return undefined
  const { tokenOf } = await import('../files/kubeconfigfile.ts')
  return tokenOf(written.toString(), user, kubeconfig)
}
