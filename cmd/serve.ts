import type { Auditor } from '../framework/audit/index.ts'
import { isIdentityHeader } from '../framework/authn/index.ts'
import type { Logger } from '../framework/log.ts'
import { createMetrics } from '../framework/metrics.ts'
import { createServer, type Server } from '../framework/server.ts'
import { versionInfo } from '../framework/version.ts'
import { createOpenApiDocuments } from '../openapi/index.ts'
import { workspaces } from '../virtual/index.ts'
import type { PreparedAuthentication } from './authentication.ts'
import { allAuthorities } from './authorities.ts'
import { build } from './build.ts'
import { openIdPages } from './openid.ts'
import { listenError, publicUrl, type StartOptions } from './options.ts'
import { openOutbound } from './outbound.ts'
import { plain } from './plain.ts'
import type { ServingFiles } from './servingfiles.ts'
import type { Embedded } from './shard.ts'

export interface ServeOptions {
  readonly options: StartOptions
  readonly host: Embedded
  readonly authentication: PreparedAuthentication
  readonly serving: ServingFiles
  readonly auditor?: Auditor
  readonly log: Logger
}

/** Serves every view of the menu and the plain endpoint, on one port. Throws `StartError` when the port cannot be had. */
export async function serve(given: ServeOptions): Promise<Server> {
  const { options, host, authentication, serving, auditor, log } = given
  const version = versionInfo(build())
  const { serviceAccounts, identityHeaders } = authentication
  const clientCA = allAuthorities(authentication.authorities())
  const { authenticator } = host.authentication
  const outbound = await openOutbound(options)
  try {
    return await createServer({
      host: options.bindAddress,
      port: options.port,
      tls: { cert: serving.certificate, key: serving.key, ...(clientCA === undefined ? {} : { clientCA }) },
      workspaces: [...workspaces, plain].map(factory => factory({ ...host, outbound })),
      backend: host.backend,
      informers: host.informers,
      authenticator,
      isIdentityHeader: isIdentityHeader(identityHeaders),
      ...(auditor && { auditor }),
      documents: createOpenApiDocuments(version),
      version,
      log,
      metrics: createMetrics(),
      checks: [],
      pages: openIdPages(serviceAccounts, publicUrl(options)),
      publicUrl: publicUrl(options),
      ...(options.shardVirtualWorkspaceUrl && { viewsUrl: options.shardVirtualWorkspaceUrl }),
      outbound,
    })
  } catch (error) {
    throw listenError(error, options)
  }
}
