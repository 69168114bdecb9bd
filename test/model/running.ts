import { versionInfo } from '../../framework/contract/version.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { createServer, type Server } from '../../framework/server/server.ts'
import { createOpenApiDocuments } from '../../openapi/index.ts'
import type { Served } from './served.ts'
import type { World } from './world.ts'

// `npm run test:model` makes millions of decisions; `MODEL_SEED=7` selects others.
export const decisions = Number(process.env.MODEL_DECISIONS ?? 100_000)
export const firstSeed = Number(process.env.MODEL_SEED ?? 1)

/** All inputs of decisions in one logical cluster, for the message of a failed test. */
export function describeWorld(world: World, about: object, where: string): string {
  const { configMaps: _none, roles, bindings, policy: _policy, ...rest } = world
  const rbac = {
    roles: roles.filter(role => role.cluster === where),
    bindings: bindings.filter(binding => binding.cluster === where),
  }
  return JSON.stringify({ ...about, ...rest, ...rbac }, undefined, 1)
}

/** Users by the number that they send. */
const numbers = (users: readonly UserInfo[]) => ({
  authenticate: async ({
    headers,
  }: {
    headers: { readonly [name: string]: string | string[] | undefined }
  }) => users[Number(headers.authorization)],
})

/** A world over HTTP. */
export async function listen({ shard, views }: Served, users: readonly UserInfo[]): Promise<Server> {
  const version = versionInfo({ version: '0.0.0', commit: '', date: '2026-01-01T00:00:00Z' })
  return createServer({
    host: '127.0.0.1',
    port: 0,
    workspaces: views,
    backend: shard.backend,
    informers: shard.informers,
    authenticator: numbers(users),
    documents: createOpenApiDocuments(version),
    version,
    log: shard.log,
    metrics: createMetrics(),
    checks: [],
  })
}
