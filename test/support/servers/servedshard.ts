import { bearerTokens, sha256, tokenUsers } from '../../../framework/authn/index.ts'
import { silent } from '../../../framework/contract/log.ts'
import { versionInfo } from '../../../framework/contract/version.ts'
import type { VirtualWorkspace } from '../../../framework/contract/workspace.ts'
import { createMetrics } from '../../../framework/metrics/metrics.ts'
import type { ServerAccess } from '../../../framework/net/serveraccess.ts'
import { createServer, type Server } from '../../../framework/server/server.ts'
import { createOpenApiDocuments } from '../../../openapi/index.ts'
import type { Shard } from '../../../shard/index.ts'
import { testCertificates } from '../wire.ts'

/** A shard of this process behind a port, as another process uses it. */
export interface ServedShard {
  /** With all permissions. */
  readonly access: ServerAccess
  readonly server: Server
}

const token = 'privileged'
const users = [
  { sha256: sha256(token), user: { name: 'views', groups: ['system:masters'] } },
  { sha256: sha256('weak'), user: { name: 'somebody', groups: [] } },
]

/** Serves some views of a shard over TLS, on a free port unless one is given. */
export async function serveShard(
  shard: Pick<Shard, 'backend' | 'informers'>,
  workspaces: readonly VirtualWorkspace[],
  port = 0,
): Promise<ServedShard> {
  const { tls } = await testCertificates()
  const version = versionInfo({ version: '0.1.0', commit: '', date: '2026-01-01T00:00:00Z' })
  const server = await createServer({
    host: '127.0.0.1',
    port,
    tls: { cert: tls.cert, key: tls.key },
    workspaces,
    ...shard,
    authenticator: bearerTokens(tokenUsers(users)),
    documents: createOpenApiDocuments(version),
    version,
    log: silent,
    metrics: createMetrics(),
    checks: [],
  })
  return { access: { server: server.url, ca: tls.clientCA, token }, server }
}
