import assert from 'node:assert/strict'
import { createTinyShard, type TinyShard, widget } from '../../test/support/tinyshard.ts'
import { ask, type Protocol, testCertificates, type WireRequest } from '../../test/support/wire.ts'
import { bearerTokens, clientCertificates, union } from '../authn/index.ts'
import type { OpenApiDocuments } from '../contract/documents.ts'
import { silent } from '../contract/log.ts'
import { versionInfo } from '../contract/version.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import { createInformers } from '../informers/informers.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { pathPattern } from '../request/path.ts'
import { createServer, type Server, type ServerOptions } from '../server/server.ts'

const documents: OpenApiDocuments = {
  index: () => new Map([['apis/example.com/v1', 'ABC']]),
  v3: () => ({ bytes: Buffer.from('{"openapi":"3.0.0"}'), etag: 'ABC' }),
  v2: () => ({ bytes: Buffer.from('{"swagger":"2.0"}'), etag: 'DEF' }),
  v2Protobuf: () => ({ bytes: Buffer.from('{"swagger":"2.0"}'), etag: 'DEF' }),
}

const tokens: Readonly<Record<string, readonly string[]>> = {
  admin: ['system:masters'],
  reader: [],
  crash: [],
}

const users = bearerTokens(async token =>
  tokens[token] === undefined
    ? undefined
    : { user: { name: token, groups: [...tokens[token], 'system:authenticated'] } },
)

export const as = (token: string, more: WireRequest = {}): WireRequest => ({
  ...more,
  headers: { authorization: `Bearer ${token}`, ...more.headers },
})

export const widgets = '/apis/example.com/v1/namespaces/default/widgets'

/** A server over a tiny shard, for each test of a suite; it listens from `start` on. */
export interface Serving {
  shard: TinyShard
  server: Server
  stop: AbortController
}

export function serving(): Serving {
  const scene = {} as Serving
  beforeEach(() => void Object.assign(scene, { stop: new AbortController(), shard: createTinyShard() }))
  afterEach(async () => {
    scene.stop.abort()
    await scene.server.close(0)
  })
  return scene
}

export const host = (scene: Serving) => ({
  backend: scene.shard,
  informers: createInformers(scene.shard, silent, scene.stop.signal),
  log: silent,
})

export const plain = (scene: Serving): VirtualWorkspace => ({
  name: '',
  path: pathPattern(''),
  apis: (_, cluster) => scene.shard.apis(cluster),
})

export async function start(
  scene: Serving,
  workspaces: readonly VirtualWorkspace[] = [plain(scene)],
  more: Partial<ServerOptions> = {},
): Promise<Server> {
  scene.server = await createServer({
    host: '127.0.0.1',
    port: 0,
    tls: testCertificates().tls,
    workspaces,
    ...host(scene),
    authenticator: union(clientCertificates(), users),
    documents,
    version: versionInfo({ version: '0.1.0', commit: 'abc', date: '2026-01-01T00:00:00Z' }),
    metrics: createMetrics(),
    checks: [],
    ...more,
  })
  return scene.server
}

export const get = async (
  scene: Serving,
  path: string,
  wanted: WireRequest = as('admin'),
  protocol: Protocol = 'HTTP/1.1',
) => {
  const reply = await ask(protocol, `${scene.server.url}${path}`, wanted)
  const json = String(reply.headers['content-type']).startsWith('application/json') && reply.body !== ''
  return { ...reply, json: json ? JSON.parse(reply.body) : undefined }
}

export const refused = async (
  scene: Serving,
  path: string,
  code: number,
  message: string | RegExp,
  wanted = as('admin'),
) => {
  const { status, json } = await get(scene, path, wanted)
  assert.equal(json?.kind, 'Status', path)
  if (typeof message === 'string') assert.equal(json.message, message)
  else assert.match(json.message, message)
  assert.equal(status, code)
  assert.equal(json.code, code)
}

export const create = (scene: Serving, cluster: string, name: string) =>
  get(
    scene,
    `/clusters/${cluster}${widgets}`,
    as('admin', { method: 'POST', body: JSON.stringify(widget('default', name)) }),
  )
