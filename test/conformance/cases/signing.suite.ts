import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import type { Reply } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import { expect, merge, post, type Target } from '../fixture.ts'

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

// A key of this test, with a request for CN=joe.
const asked = `-----BEGIN CERTIFICATE REQUEST-----
MIHIMHACAQAwDjEMMAoGA1UEAwwDam9lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEWZYJ3ldqKyXjQB8vMOhK7/MCP9GjydyXhLLEk25CC1xQ6PO4F3zUQoF6A9sH
krGXg+U2ETM4eg59S9Q1Gj7w5aAAMAoGCCqGSM49BAMCA0gAMEUCIBfhjHlBr5fL
E80DVoe4hxjVClF3KTbExcJbnNVeRVvdAiEA3NRx1iUjP+Npb0wQ2/yCP+JpZU55
JVcm3bMFvYPgfxw=
-----END CERTIFICATE REQUEST-----
`

interface SigningRequest extends KubeObject {
  readonly spec: {
    readonly username?: string
    readonly groups?: readonly string[]
    readonly usages: readonly string[]
  }
  readonly status: { readonly certificate?: string; readonly conditions?: readonly Condition[] }
}

interface Condition {
  readonly type: string
  readonly reason?: string
  readonly lastUpdateTime?: string
  readonly lastTransitionTime?: string
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** CertificateSigningRequests: the server sets the requesting user, and each endpoint writes its part only. */
export function signingCases(target: () => Target): void {
  const request = (more: object = {}): KubeObject => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: target().fresh() },
    spec: { request: base64(asked), signerName: 'example.com/s', usages: ['client auth'], ...more },
  })
  const created = async (more?: object): Promise<SigningRequest> =>
    (await expect(201, target().client(path, post(request(more))))) as SigningRequest
  const writing = ({ metadata }: KubeObject, part: string, change: object): Promise<Reply> =>
    target().client(`${path}/${metadata.name}${part}?fieldManager=m`, merge(change))
  const written = async (object: KubeObject, part: string, change: object): Promise<SigningRequest> =>
    (await expect(200, writing(object, part, change))) as SigningRequest
  const refused = async (object: KubeObject, part: string, status: object): Promise<string> =>
    ((await expect(422, writing(object, part, { status }))).message ?? '').replace(/^.* is invalid: /, '')
  const decision = (type: string, status = 'True', reason = 'r') => ({
    conditions: [{ type, status, reason }],
  })

  it('have the requesting user, and system fields have no owner', async () => {
    const { spec, status, metadata } = await created({ username: 'somebody', groups: ['system:masters'] })
    assert.notEqual(spec.username, 'somebody')
    assert.notDeepEqual(spec.groups, ['system:masters'])
    assert.deepEqual([status, metadata.managedFields], [{}, undefined])
  })

  it('are immutable, except for metadata', async () => {
    const object = await created()
    const change = { metadata: { labels: { a: 'b' } }, spec: { usages: ['server auth'], username: 'x' } }
    const { spec, metadata } = await written(object, '', change)
    assert.deepEqual([spec, metadata.labels], [object.spec, { a: 'b' }])
  })

  it('are approved once, by /approval only, which sets the time', async () => {
    const object = await created()
    assert.equal(
      await refused(object, '/status', decision('Approved')),
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    )
    const { status } = await written(object, '/approval', {
      status: { ...decision('Approved'), certificate: 'AAAA' },
    })
    const [approved] = status.conditions ?? []
    assert.match(`${approved?.lastUpdateTime} ${approved?.lastTransitionTime}`, /Z .*Z$/)
    assert.equal(status.certificate, undefined)
    const other = await written(object, '/status', { status: decision('Approved', 'True', 'other') })
    assert.deepEqual(other.status.conditions, status.conditions)
    for (const part of ['/status', '/approval'])
      assert.match(
        await refused(object, part, { conditions: [] }),
        /may not remove a condition of type "Approved"$/,
      )
    assert.equal(
      await refused(object, '/approval', {
        conditions: [...decision('Approved').conditions, ...decision('Denied').conditions],
      }),
      'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    )
  })

  it('refuse conditions without a decision, and invalid certificates', async () => {
    const object = await created()
    assert.equal(
      await refused(object, '/approval', decision('Denied', 'False')),
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    )
    assert.equal(
      await refused(object, '/status', { certificate: base64('x') }),
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    )
  })

  it('have each condition once', async () => {
    const [condition] = decision('Other').conditions
    assert.equal(
      await refused(await created(), '/status', { conditions: [condition, condition] }),
      'status.conditions[1].type: Duplicate value: "Other"',
    )
  })

  it('accept metadata at each endpoint', async () => {
    const object = await created()
    for (const part of ['/status', '/approval']) {
      const { metadata } = await written(object, part, { metadata: { labels: { by: part.slice(1) } } })
      assert.deepEqual(metadata.labels, { by: part.slice(1) })
    }
  })

  it('have usages and expirationSeconds', async () => {
    const wrong = {
      usages: ['nonsense', 'any', 'any'],
      signerName: 'nobody',
      expirationSeconds: 5,
      request: base64('x'),
    }
    const { details } = await expect(422, target().client(path, post(request(wrong))))
    assert.deepEqual(
      details?.causes?.map(({ field }) => field),
      ['spec.request', 'spec.usages[0]', 'spec.usages[2]', 'spec.signerName', 'spec.expirationSeconds'],
    )
  })

  it('are approved and signed by users with permission for the signer', async () => {
    const clerk = target().fresh()
    await grant(clerk, 'clerks', rule('certificatesigningrequests', 'get', 'patch'), access)
    const object = await created()
    const name = object.metadata.name
    const as = (part: string, change: object): Promise<Reply> => {
      const sent = merge(change)
      const headers = { ...sent.headers, 'impersonate-user': clerk }
      return target().client(`${path}/${name}/${part}`, { ...sent, headers })
    }
    const refusal = (verb: string): string =>
      `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: user not permitted to ${verb} requests with signerName "example.com/s"`
    const approved = { status: decision('Approved') }
    await eventually(
      () => as('approval', approved),
      ({ text }) => text.includes(JSON.stringify(refusal('approve')).slice(1, -1)),
    )
    assert.equal((await expect(403, as('status', { status: decision('Other') }))).message, refusal('sign'))
    await expect(200, as('status', { metadata: { labels: { a: 'b' } } }))
    const signers = {
      apiGroups: [signing],
      resources: ['signers'],
      resourceNames: ['example.com/*'],
      verbs: ['approve'],
    }
    await grant(clerk, 'approvers', signers)
    await eventually(
      () => as('approval', approved),
      ({ status }) => status === 200,
    )
  })

  async function grant(user: string, role: string, ...rules: readonly object[]): Promise<void> {
    const { client } = target()
    const metadata = { name: `${role}-${user}` }
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await expect(201, client(`${rbac}/clusterroles`, post({ metadata, rules })))
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name }
    const subjects = [{ apiGroup: roleRef.apiGroup, kind: 'User', name: user }]
    await expect(201, client(`${rbac}/clusterrolebindings`, post({ metadata, roleRef, subjects })))
  }
}

const signing = 'certificates.k8s.io'
const access = { nonResourceURLs: ['/'], verbs: ['access'] }
const rule = (resource: string, ...verbs: readonly string[]) => ({
  apiGroups: [signing],
  resources: [resource, `${resource}/status`, `${resource}/approval`],
  verbs,
})
