import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BearerTokenReader, sha256, tokenUsers } from '../../framework/authn/index.ts'
import type { LogLevel } from '../../framework/contract/log.ts'
import { type Answering, openPort, type Port } from '../../framework/server/listener.ts'
import type { ShardConnectionFlags, ShardPlace } from './messages.ts'

/** What the processes of isolated views need from the server that starts them. */
export interface Isolation {
  /** A directory for sockets, which only the user of this process can open. Removed at the end of the process. */
  readonly folder: string
  readonly shard: ShardPlace
  readonly logLevel: LogLevel
}

/** Isolated views of `oriel start`, whose processes read by a socket of the server. */
export interface ServedIsolation extends Isolation {
  /** The user of their requests: a member of `system:masters`. */
  readonly tokens: BearerTokenReader
  /** Answers at the port, and at the socket until the end of this process, because the views end after the port. */
  with(port: Port): Port
}

async function privateFolder(): Promise<string> {
  // The mode is 0700.
  const folder = await mkdtemp(join(tmpdir(), 'oriel-views-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const newSecret = (): string => randomBytes(32).toString('base64url')

const viewProcess = { name: 'system:oriel:view', groups: ['system:masters', 'system:authenticated'] }

export async function isolationOfServer(logLevel: LogLevel): Promise<ServedIsolation> {
  const folder = await privateFolder()
  const socketPath = join(folder, 'server.sock')
  const token = newSecret()
  const socket = await openPort({ host: 'localhost', port: 0, socketPath })
  return {
    folder,
    logLevel,
    shard: { socketPath, token },
    tokens: tokenUsers([{ sha256: sha256(token), user: viewProcess }]),
    with: port => ({
      ...port,
      answer(by: Answering) {
        port.answer(by)
        socket.answer(by)
      },
    }),
  }
}

/** Isolated views of `oriel virtual-workspaces`, whose processes read from the shard. */
export const isolationOfViews = async (
  flags: ShardConnectionFlags,
  logLevel: LogLevel,
): Promise<Isolation> => ({
  folder: await privateFolder(),
  shard: {
    flags: {
      kubeconfig: flags.kubeconfig,
      ...(flags.context && { context: flags.context }),
      ...(flags.externalLogicalClusterAdminKubeconfig && {
        externalLogicalClusterAdminKubeconfig: flags.externalLogicalClusterAdminKubeconfig,
      }),
      ...(flags.cacheKubeconfig && { cacheKubeconfig: flags.cacheKubeconfig }),
      ...(flags.cacheServerKubeconfigFile && { cacheServerKubeconfigFile: flags.cacheServerKubeconfigFile }),
    },
  },
  logLevel,
})
