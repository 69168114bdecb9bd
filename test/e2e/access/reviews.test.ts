import assert from 'node:assert/strict'
import { discard, eventually, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { createWorkspaces, type Tenant } from '../../support/tenants.ts'

const robot = 'system:serviceaccount:default:default'
const admin = ['system:kcp:admin']
const scopes = 'authentication.kcp.io/scopes'
const home = 'authentication.kcp.io/cluster-name'
const warrant = { 'authorization.kcp.io/warrant': ['{"user":"user2","groups":["system:kcp:admin"]}'] }

interface Subject {
  readonly user: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

interface Status {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly reason?: string
}

describe('reviews', function () {
  this.timeout(180_000)
  this.slow(60_000)
  let server: Oriel
  let ws: Tenant
  before(async () => {
    server = await startServer()
    const [first] = await createWorkspaces(server, ['reviewed'])
    ws = first as Tenant
  })
  after(() => discard(server))

  const group = 'authorization.k8s.io'
  async function review(
    subject: Subject,
    attributes: object = { verb: 'get', resource: 'namespaces' },
  ): Promise<Status> {
    const spec = { ...subject, resourceAttributes: { version: 'v1', ...attributes } }
    const body = { apiVersion: `${group}/v1`, kind: 'SubjectAccessReview', spec }
    const path = `/clusters/${ws.path}/apis/${group}/v1/subjectaccessreviews`
    const answer = await ws.kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(body))
    return JSON.parse(answer).status
  }

  // The table of kcp's TestSubjectAccessReview (`test/e2e/authorizer/subjectaccessreview_test.go`); `here` is the
  // workspace's logical cluster.
  const rows: readonly (readonly [string, (here: string) => Subject, boolean])[] = [
    ['a normal user', () => ({ user: 'user', groups: admin }), true],
    [
      'a user scoped to the workspace',
      here => ({ user: 'user', groups: admin, extra: { [scopes]: [`cluster:${here}`] } }),
      true,
    ],
    [
      'a user scoped to it or another',
      here => ({ user: 'user', groups: admin, extra: { [scopes]: [`cluster:${here},cluster:another`] } }),
      true,
    ],
    [
      'a user scoped to it and another',
      here => ({ user: 'user', groups: admin, extra: { [scopes]: [`cluster:${here}`, 'cluster:another'] } }),
      false,
    ],
    [
      'a user scoped to another workspace',
      () => ({ user: 'user', groups: admin, extra: { [scopes]: ['cluster:root'] } }),
      false,
    ],
    [
      'a user with a warrant',
      () => ({ user: 'user', groups: [], extra: { [home]: ['other'], ...warrant } }),
      true,
    ],
    ['a service account', () => ({ user: robot, groups: admin }), true],
    [
      'a service account of the workspace',
      here => ({ user: robot, groups: admin, extra: { [home]: [here] } }),
      true,
    ],
    [
      'a service account of another',
      () => ({ user: robot, groups: admin, extra: { [home]: ['other'] } }),
      false,
    ],
    [
      'a service account of another, with a warrant',
      () => ({ user: robot, groups: [], extra: { [home]: ['other'], ...warrant } }),
      true,
    ],
  ]
  for (const [what, subject, allowed] of rows)
    it(`${allowed ? 'allow' : 'refuse'} ${what}`, async () => {
      const status = await review(subject(ws.cluster))
      assert.equal(status.allowed, allowed)
      assert.equal(status.reason, allowed ? 'access granted' : 'access denied')
    })

  it('distinguish denied from no opinion', async () => {
    const status = { verb: 'get', group: 'apis.kcp.io', resource: 'apibindings', subresource: 'status' }
    assert.equal((await review({ user: 'user', groups: admin }, status)).denied, true)
    assert.equal((await review({ user: 'nobody', groups: [] })).denied, undefined)
  })

  it('evaluate the scopes of a user, once the workspace grants access', async () => {
    const scoped = {
      user: 'user',
      groups: ['system:authenticated'],
      extra: { [scopes]: ['cluster:elsewhere'] },
    }
    const foreign = { user: robot, groups: ['system:authenticated'], extra: { [home]: ['elsewhere'] } }
    const names = [
      '--group=system:cluster:elsewhere',
      '--user=system:kcp:serviceaccount:elsewhere:default:default',
    ]
    await ws.kubectl([
      'create',
      'clusterrolebinding',
      'in',
      '--clusterrole=system:kcp:workspace:access',
      ...names,
    ])
    await ws.kubectl(['create', 'clusterrole', 'namespaces', '--verb=get', '--resource=namespaces'])
    await ws.kubectl(['create', 'clusterrolebinding', 'see', '--clusterrole=namespaces', ...names])
    await eventually(
      () => review(foreign),
      ({ allowed }) => allowed,
    )
    await eventually(
      () => review(scoped),
      ({ allowed }) => allowed,
    )
    assert.equal((await review({ ...scoped, extra: { [scopes]: ['cluster:third'] } })).allowed, false)
    assert.equal((await review({ ...foreign, extra: { [home]: ['third'] } })).allowed, false)
  })

  it('apply the policies of exports to all users', async () => {
    const update = { verb: 'update', group: 'tenancy.kcp.io', resource: 'workspaces', name: 'x' }
    await ws.kubectl(['create', 'clusterrolebinding', 'owner', '--clusterrole=cluster-admin', '--user=owner'])
    const owner = { user: 'owner', groups: ['system:authenticated'] }
    await eventually(
      () => review(owner, update),
      ({ allowed }) => allowed,
    )
    assert.equal((await review(owner, { ...update, subresource: 'status' })).allowed, false)
  })
})
