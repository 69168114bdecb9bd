import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Command } from 'commander'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { readKubeconfig } from '../files/kubeconfigfile.ts'
import { StartError } from '../files/starterror.ts'

/** The server that a command asks, and the credentials for it. */
export interface ConnectionFlags {
  readonly kubeconfig: string
  readonly context?: string
  readonly server?: string
}

/** As in kubectl: the first file of `$KUBECONFIG`, else the one in the home directory. */
const defaultKubeconfig = (): string =>
  process.env.KUBECONFIG?.split(delimiter)[0] || join(homeDirectory(), '.kube/config')

/** Containers run with users that have no entry in /etc/passwd, for which `homedir` throws an error. */
function homeDirectory(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}

/** Adds the flags to a command. */
export const addConnectionFlags = (command: Command): Command =>
  command
    .option('--kubeconfig <path>', 'kubeconfig with the server and the credentials', defaultKubeconfig())
    .option('--context <name>', 'context of the kubeconfig (default: the current context)')
    .option('-s, --server <url>', 'URL of a workspace; overrides the server of the context')

/** Reads the connection that the flags select. Throws `StartError` when the kubeconfig lacks it. */
export async function connectionOf({ kubeconfig, context, server }: ConnectionFlags): Promise<ServerAccess> {
  if (!existsSync(kubeconfig))
    throw new StartError(
      `there is no kubeconfig ${kubeconfig}: give one with --kubeconfig or $KUBECONFIG, such as .oriel/admin.kubeconfig.`,
    )
  const connection = await readKubeconfig(kubeconfig, context)
  return server === undefined ? connection : { ...connection, server: server.replace(/\/+$/, '') }
}
