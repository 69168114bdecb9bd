import assert from 'node:assert/strict'
import { createTinyShard, type TinyShard, widget } from '../../test/support/tinyshard.ts'
import { ask, open, testCertificates, type WireRequest } from '../../test/support/wire.ts'
import { bearerTokens } from '../authn/index.ts'
import type { OpenApiDocuments } from '../contract/documents.ts'
import { silent } from '../contract/log.ts'
import { versionInfo } from '../contract/version.ts'
import { createInformers } from '../informers/informers.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { pathPattern } from '../request/path.ts'
import { createServer, type Server } from '../server/server.ts'
import { createAuditor } from './auditor.ts'
import type { AuditEvent } from './event.ts'
import { AuditMeters } from './meters.ts'
import type { AuditPolicy, AuditRule } from './policy.ts'
import type { AuditRecord } from './record.ts'

type Recorded = AuditEvent & { readonly requestObject?: unknown; readonly responseObject?: unknown }

const version = versionInfo({ version: '0.1.0', commit: '', date: '2026-01-01T00:00:00Z' })
const tokens: Readonly<Record<string, readonly string[]>> = {
  admin: ['system:masters'],
  reader: [],
  nobody: [],
  crash: [],
}
const users = bearerTokens(async token => {
  const groups = tokens[token]
  return groups && { user: { name: token, groups: [...groups, 'system:authenticated'] } }
})
const as = (token: string, more: WireRequest = {}): WireRequest => ({
  ...more,
  headers: { authorization: `Bearer ${token}`, 'user-agent': 'tests', ...more.headers },
})
const widgets = '/clusters/team/apis/example.com/v1/namespaces/default/widgets'
const posted = (name: string) =>
  as('admin', { method: 'POST', body: JSON.stringify(widget('default', name)) })

describe('the audit log', () => {
  let shard: TinyShard
  let server: Server
  let stop: AbortController
  let events: Recorded[]
  let arrived: () => void

  async function start(...rules: AuditRule[]): Promise<void> {
    await startWith({ rules })
  }
  async function startWith(policy: AuditPolicy): Promise<void> {
    const informers = createInformers(shard, silent, stop.signal)
    const write = ({ json }: AuditRecord): void => {
      events.push(JSON.parse(Buffer.concat(json.pieces).toString()))
      arrived()
    }
    const auditor = createAuditor({
      policy,
      sinks: [{ write, close: async () => undefined }],
      meters: new AuditMeters(),
      pathOf: cluster => (cluster === 'team' ? 'root:team' : ''),
      missing: ({ user, action }) => `${user.name} lacks ${action.verb}`,
    })
    server = await createServer({
      host: '127.0.0.1',
      port: 0,
      tls: testCertificates().tls,
      workspaces: [{ name: '', path: pathPattern(''), apis: (_, cluster) => shard.apis(cluster) }],
      backend: shard,
      informers,
      authenticator: users,
      auditor,
      documents: {} as OpenApiDocuments,
      version,
      log: silent,
      metrics: createMetrics(),
      checks: [],
    })
  }
  beforeEach(() => {
    stop = new AbortController()
    shard = createTinyShard()
    events = []
    arrived = () => undefined
  })
  afterEach(async () => {
    stop.abort()
    await server.close(0)
  })

  const get = (path: string, wanted: WireRequest = as('admin')) => ask('HTTP/2', server.url + path, wanted)
  /** The event of a stage; the last one is written when the client has its answer already. */
  async function at(stage: AuditEvent['stage'], which: (event: Recorded) => boolean = () => true) {
    for (;;) {
      const found = events.find(event => event.stage === stage && which(event))
      if (found !== undefined) return found
      await new Promise<void>(resolve => {
        arrived = resolve
      })
    }
  }

  it('has the impersonated user, and the verb that a constrained impersonation used', async () => {
    await start({ level: 'Metadata' })
    const become = async (headers: Record<string, string>) => {
      const id = JSON.stringify(headers).replaceAll(/[^a-z]/g, '')
      await get(widgets, as('admin', { headers: { ...headers, 'audit-id': id } }))
      const event = await at('ResponseComplete', ({ auditID }) => auditID === id)
      return [event.user.username, event.impersonatedUser?.username, event.authenticationMetadata]
    }
    const constraint = { impersonationConstraint: 'impersonate:user-info' }
    assert.deepEqual(await become({ 'impersonate-user': 'reader' }), ['admin', 'reader', constraint])
    const masters = { 'impersonate-user': 'other', 'impersonate-group': 'system:masters' }
    assert.deepEqual(await become(masters), ['admin', 'other', undefined])
  })

  it('has an event when a request is received, and one when it is answered', async () => {
    await start({ level: 'Metadata' })
    await get(
      `${widgets}?limit=5`,
      as('admin', { headers: { 'audit-id': 'id-1', 'x-forwarded-for': '10.0.0.1, junk' } }),
    )
    const { requestReceivedTimestamp, stageTimestamp, ...last } = await at('ResponseComplete')
    assert.deepEqual(last, {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'id-1',
      stage: 'ResponseComplete',
      requestURI: '/apis/example.com/v1/namespaces/default/widgets?limit=5',
      verb: 'list',
      user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['10.0.0.1', '127.0.0.1'],
      userAgent: 'tests',
      objectRef: { resource: 'widgets', namespace: 'default', apiGroup: 'example.com', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 200 },
      annotations: {
        'authorization.k8s.io/decision': 'allow',
        'authorization.k8s.io/reason': '',
        'kcp.io/cluster': 'team',
        'kcp.io/path': 'root:team',
        'tenancy.kcp.io/workspace': 'team',
      },
    })
    assert.match(requestReceivedTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    assert.ok(stageTimestamp >= requestReceivedTimestamp)
    const first = await at('RequestReceived')
    assert.equal(first.responseStatus, undefined)
    assert.deepEqual(Object.keys(first.annotations ?? {}).sort(), [
      'kcp.io/cluster',
      'kcp.io/path',
      'tenancy.kcp.io/workspace',
    ])
    assert.equal(events.length, 2)
  })

  it('has the reason of a refusal, and the missing permission', async () => {
    await start({ level: 'Metadata' })
    await get(widgets, as('nobody'))
    const { annotations, responseStatus } = await at('ResponseComplete')
    assert.equal(annotations?.['authorization.k8s.io/decision'], 'forbid')
    assert.equal(annotations?.['authorization.k8s.io/reason'], 'access denied')
    assert.deepEqual(
      [responseStatus?.code, responseStatus?.status, responseStatus?.reason],
      [403, 'Failure', 'Forbidden'],
    )
    assert.match(responseStatus?.message ?? '', /User "nobody" cannot list/)
  })

  it('has request and response objects only if the policy requires them', async () => {
    await start(
      { level: 'RequestResponse', verbs: ['create'] },
      { level: 'Request', verbs: ['update'] },
      { level: 'Metadata', verbs: ['get'] },
    )
    const { body } = await get(widgets, posted('a'))
    const created = await at('ResponseComplete')
    assert.deepEqual((created.requestObject as { spec: object }).spec, widget('default', 'a').spec)
    assert.deepEqual(created.responseObject, JSON.parse(body))
    assert.equal(created.objectRef?.name, 'a')
    await get(`${widgets}/a`, as('admin', { method: 'PUT', body }))
    const updated = await at('ResponseComplete', event => event.verb === 'update')
    assert.deepEqual(updated.requestObject, JSON.parse(body))
    assert.equal(updated.responseObject, undefined)
    await get(`${widgets}/a`)
    const read = await at('ResponseComplete', event => event.verb === 'get')
    assert.deepEqual(
      [read.requestObject, read.responseObject, read.objectRef?.name],
      [undefined, undefined, 'a'],
    )
    await get(widgets)
    await get(`${widgets}/a`, as('reader'))
    await at('ResponseComplete', event => event.user.username === 'reader')
    assert.ok(!events.some(event => event.verb === 'list'))
  })

  it('has whole lists that are sent in pieces, without managed fields where they are not wanted', async () => {
    await startWith({ rules: [{ level: 'RequestResponse' }], omitManagedFields: true })
    for (const name of ['a', 'b']) await get(widgets, posted(name))
    const { body } = await get(widgets)
    const { responseObject } = await at('ResponseComplete', event => event.verb === 'list')
    assert.equal((responseObject as { items: object[] }).items.length, 2)
    assert.doesNotMatch(JSON.stringify(responseObject), /managedFields/)
    assert.equal(JSON.parse(body).items.length, 2)
  })

  it('has the beginning and the end of a watch, and nothing between', async () => {
    await start({ level: 'RequestResponse', verbs: ['watch'], omitStages: ['RequestReceived'] })
    const watch = await open('HTTP/2', `${server.url}${widgets}?watch=1`, as('admin'))
    const { responseStatus } = await at('ResponseStarted')
    assert.deepEqual(responseStatus, { metadata: {}, code: 200 })
    await get(widgets, posted('a'))
    await watch.next()
    assert.equal(events.length, 1)
    watch.leave()
    const last = await at('ResponseComplete')
    assert.equal(last.responseObject, undefined)
    assert.equal(events.length, 2)
  })

  it('has requests without authentication, without a user', async () => {
    await start({ level: 'Metadata' })
    await get(widgets, as('wrong'))
    const { user, responseStatus, objectRef } = await at('ResponseStarted')
    assert.deepEqual([user, responseStatus?.code, objectRef?.resource], [{}, 401, 'widgets'])
    assert.equal(events.length, 1)
  })

  it('has requests that mean nothing', async () => {
    await start({ level: 'Metadata' })
    await get('/clusters/team/api/%zz')
    const { verb, responseStatus } = await at('ResponseComplete')
    assert.deepEqual([verb, responseStatus?.code], ['get', 400])
  })

  it('has requests in which the server itself failed, and why', async () => {
    await start({ level: 'Metadata' })
    assert.equal((await get(widgets, as('crash'))).status, 500)
    const { responseStatus, user } = await at('Panic')
    assert.equal(user.username, 'crash')
    assert.deepEqual([responseStatus?.code, responseStatus?.reason], [500, 'InternalError'])
    assert.match(responseStatus?.message ?? '', /^APIServer panic'd: Error: /)
    assert.ok(!events.some(({ stage }) => stage === 'ResponseComplete'))
  })

  it('has no objects in protobuf that were refused before they were decoded', async () => {
    await start({ level: 'RequestResponse' })
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    const body = 'k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\0'
    assert.equal((await get(widgets, as('admin', { method: 'POST', body, headers }))).status, 415)
    const { requestObject, responseStatus } = await at('ResponseComplete')
    assert.deepEqual([requestObject, responseStatus?.code], [undefined, 415])
  })

  it('has no long JSON that was refused before it was decoded', async () => {
    await start({ level: 'RequestResponse' })
    const headers = { 'content-type': 'application/json' }
    const sent = { method: 'POST', body: `[${'{},'.repeat(300_000)}{}]`, headers }
    assert.equal((await get(widgets, as('admin', sent))).status, 413)
    const { requestObject, responseStatus } = await at('ResponseComplete')
    assert.deepEqual([requestObject, responseStatus?.code], [undefined, 413])
  })

  it('does not change responses', async () => {
    await start({ level: 'RequestResponse' })
    await get(widgets, posted('a'))
    const audited = await get(widgets)
    await server.close(0)
    await start({ level: 'None' })
    const plain = await get(widgets)
    assert.equal(audited.body, plain.body)
    assert.equal(audited.headers['content-type'], plain.headers['content-type'])
  })
})
