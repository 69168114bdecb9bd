import type { Logger } from '../../framework/contract/log.ts'
import type { IsIdentity } from '../../framework/request/incoming.ts'
import { MappingError, parseMappings, readTls } from '../../proxy/mapping.ts'
import { openRoutes, type ProxyRoutes, type Route } from '../../proxy/routes.ts'
import { readFlagFile } from '../files/files.ts'
import { follow } from '../files/follow.ts'
import { StartError } from '../files/starterror.ts'

export interface RoutesOptions {
  /** `--mapping-file` */
  readonly file: string
  readonly isIdentity: IsIdentity
  readonly log: Logger
  /** Ends the watch. */
  readonly signal: AbortSignal
}

/** The routes of the mapping file, which is reloaded when it or one of its certificates changes. */
export interface FollowedRoutes {
  current(): ProxyRoutes
  close(): Promise<void>
}

/**
 * Reads the mapping file and watches it. Requests in progress keep their backend when it changes. Throws `StartError`
 * when the file is invalid at the start.
 */
export async function followRoutes(options: RoutesOptions): Promise<FollowedRoutes> {
  const { file, isIdentity, log, signal } = options
  const read = (): Promise<readonly Route[]> => readRoutes(file)
  const current = await read()
  let routes = openRoutes(current, isIdentity)
  const use = (next: readonly Route[]): void => {
    void routes.close()
    routes = openRoutes(next, isIdentity)
  }
  follow({ what: 'mapping file', current, read, use, log, signal })
  return { current: () => routes, close: () => routes.close() }
}

async function readRoutes(file: string): Promise<readonly Route[]> {
  const text = await readFlagFile('--mapping-file', file)
  const mappings = await usable(`${file}: `, async () => parseMappings(text))
  const read = mappings.map(async mapping => ({ mapping, tls: await readTls(mapping) }))
  return usable('', () => Promise.all(read))
}

async function usable<T>(where: string, reading: () => Promise<T>): Promise<T> {
  try {
    return await reading()
  } catch (error) {
    if (error instanceof MappingError) throw new StartError(`${where}${error.message}.`)
    throw error
  }
}
