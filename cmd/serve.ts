import type { Authenticator } from '../framework/authenticator.ts'
import type { Logger } from '../framework/log.ts'
import { createMetrics } from '../framework/metrics.ts'
import { createServer, type Server } from '../framework/server.ts'
import { versionInfo } from '../framework/version.ts'
import type { Host } from '../framework/workspace.ts'
import { createOpenApiDocuments } from '../openapi/index.ts'
import { workspaces } from '../virtual/index.ts'
import { build } from './build.ts'
import { type StartOptions, startUrl } from './options.ts'
import { plain } from './plain.ts'
import type { ServingFiles } from './servingfiles.ts'
import { codeOf, StartError } from './starterror.ts'

export interface ServeOptions {
  readonly options: StartOptions
  readonly host: Host
  readonly authenticator: Authenticator
  readonly serving: ServingFiles
  /** PEM. */
  readonly clientCA: string | undefined
  readonly log: Logger
}

/** Serves every view of the menu and the plain endpoint, on one port. Throws `StartError` when the port cannot be had. */
export async function serve({
  options,
  host,
  authenticator,
  serving,
  clientCA,
  log,
}: ServeOptions): Promise<Server> {
  const version = versionInfo(build())
  const publicUrl = startUrl(options)
  try {
    return await createServer({
      host: options.bindAddress,
      port: options.port,
      tls: { cert: serving.certificate, key: serving.key, ...(clientCA === undefined ? {} : { clientCA }) },
      workspaces: [...workspaces, plain].map(factory => factory(host)),
      backend: host.backend,
      informers: host.informers,
      authenticator,
      documents: createOpenApiDocuments(version),
      version,
      log,
      metrics: createMetrics(),
      checks: [],
      ...(publicUrl === undefined ? {} : { publicUrl }),
    })
  } catch (error) {
    throw listenError(error, options)
  }
}

function listenError(error: unknown, { port, bindAddress }: StartOptions): unknown {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} on ${bindAddress} is in use: choose another one with --port.`)
    case 'EACCES':
      return new StartError(`Port ${port} needs more rights: choose one above 1023 with --port.`)
    case 'EADDRNOTAVAIL':
      return new StartError(`${bindAddress} is no address of this machine: choose another --bind-address.`)
    default:
      return error
  }
}
