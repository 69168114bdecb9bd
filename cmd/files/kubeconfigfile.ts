import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isBundle, isCertificate, isPair } from '../../framework/authn/pem.ts'
import {
  credentialsPolicy,
  KubeconfigError,
  operatorPolicy,
  parseKubeconfig,
  userToken,
} from '../../framework/net/kubeconfig.ts'
import type { ServerAccess, ServerCredentials } from '../../framework/net/serveraccess.ts'
import { type FileWatchEnding, follow } from './follow.ts'
import { codeOf, StartError } from './starterror.ts'

/**
 * Reads a context of a kubeconfig; default: its current context. Paths in it are relative to its directory. Throws
 * `StartError`.
 */
export async function readKubeconfig(
  file: string,
  context?: string,
  policy = operatorPolicy,
): Promise<ServerAccess> {
  const text = await contentOf(file)
  const { access, files } = asStartError(file, () => parseKubeconfig(text, policy, context))
  const place = (path: string): string => resolve(dirname(file), path)
  const read = async (path: string): Promise<string> => contentOf(place(path))
  const ca = files.ca === undefined ? access.ca : await read(files.ca)
  if (ca !== undefined) checkAuthority(ca, files.ca === undefined ? file : place(files.ca))
  const cert = files.cert === undefined ? access.cert : await read(files.cert)
  const key = files.key === undefined ? access.key : await read(files.key)
  if (cert !== undefined && !isCertificate(cert))
    throw new StartError(`${file} has an invalid client certificate: give the user another one.`)
  if (cert !== undefined && (key === undefined || !isPair({ cert, key })))
    throw new StartError(`${file} has a client certificate without its private key: set client-key to it.`)
  return {
    ...access,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(files.token && { token: (await read(files.token)).trim() }),
  }
}

/** Node would ignore it, and refuse the server later. client-go refuses it, too (`rootCertPool` of `client-go/transport`). */
function checkAuthority(ca: string, file: string): void {
  if (!isBundle(ca))
    throw new StartError(`${file} contains no valid certificate: give the cluster an authority in PEM.`)
}

/** A context of a kubeconfig that a flag names; default: its current context. Throws `StartError` with the flag. */
export const readFlagKubeconfig = (flag: string, file: string, context?: string): Promise<ServerAccess> =>
  naming(flag, readKubeconfig(file, context))

/** Adds the flag to a `StartError`. */
async function naming<T>(flag: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    throw new StartError(`${error.message.replace(/\.$/, '')} (${flag}).`)
  }
}

/** The server of a kubeconfig that a flag names, without the path of a workspace. Throws `StartError`. */
export async function readServerAccess(flag: string, file: string): Promise<ServerAccess> {
  const access = await readFlagKubeconfig(flag, file)
  return { ...access, server: new URL(access.server).origin }
}

/** The credentials for several servers in a kubeconfig, whose server is not used and may be absent. Throws `StartError`. */
export const readCredentials = async (flag: string, file: string): Promise<ServerCredentials> =>
  withoutServer(await naming(flag, readKubeconfig(file, undefined, credentialsPolicy)))

/** The credentials in a file. */
export interface FollowedCredentials<A extends ServerCredentials = ServerCredentials> {
  /** What the file had first. */
  readonly access: A
  current(): ServerCredentials
  /** Reads them again when they change. */
  follow(ending: FileWatchEnding): void
}

/**
 * The credentials that `read` returns, without a server: client-go reads the certificates and the token files of a kubeconfig again, too
 * (`client-go/transport`). Rejects as `read` does.
 */
export async function openCredentials<A extends ServerCredentials>(
  flag: string,
  read: () => Promise<A>,
): Promise<FollowedCredentials<A>> {
  const access = await read()
  let current = withoutServer(access)
  const use = (next: ServerCredentials): void => {
    current = next
  }
  const what = `credentials of ${flag}`
  return {
    access,
    current: () => current,
    follow: ending =>
      follow({ what, current, read: async () => withoutServer(await read()), use, ...ending }),
  }
}

/** The same, followed from the beginning. */
export async function followCredentials(
  flag: string,
  read: () => Promise<ServerCredentials>,
  ending: FileWatchEnding,
): Promise<() => ServerCredentials> {
  const { current, follow } = await openCredentials(flag, read)
  follow(ending)
  return current
}

/** The address of a server is not followed. */
const withoutServer = ({ server: _, ...credentials }: Partial<ServerAccess>): ServerCredentials => credentials

/** The token of a user in a kubeconfig of this server; undefined when there is none. Throws `StartError`. */
export function tokenOf(kubeconfig: string, user: string, file: string): string | undefined {
  try {
    return userToken(kubeconfig, user)
  } catch {
    throw new StartError(`${file} is not a kubeconfig: remove it and start again.`)
  }
}

function asStartError<T>(file: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof KubeconfigError) throw new StartError(`${file} ${error.message}.`)
    throw error
  }
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new StartError(`${path} cannot be read (${codeOf(error)}): give the name of a readable file.`)
  }
}
