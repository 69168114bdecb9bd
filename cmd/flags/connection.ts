import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Command } from 'commander'
import { type Connection, readConnection } from '../files/connection.ts'

/** Which server, and who one is to it. */
export interface ConnectionOptions {
  readonly kubeconfig: string
  readonly context?: string
  readonly server?: string
}

/** kubectl's: the first of `$KUBECONFIG`, else the one in the home directory. */
const defaultKubeconfig = (): string =>
  process.env.KUBECONFIG?.split(delimiter)[0] || join(homedir(), '.kube/config')

/** Adds the flags to a command. */
export const connectionFlags = (command: Command): Command =>
  command
    .option('--kubeconfig <path>', 'the server and whom you are to it', defaultKubeconfig())
    .option('--context <name>', 'of the kubeconfig')
    .option('-s, --server <url>', 'a workspace’s URL instead of that of the context')

/** What the flags say. Throws `StartError` for what is missing. */
export async function connectionOf({ kubeconfig, context, server }: ConnectionOptions): Promise<Connection> {
  const connection = await readConnection(kubeconfig, context)
  return server === undefined ? connection : { ...connection, server: server.replace(/\/+$/, '') }
}
