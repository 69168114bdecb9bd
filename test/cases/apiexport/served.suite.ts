import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { apiResourceSchemaOf } from '../../support/crds.ts'
import { tokenOfDefault } from '../../support/oriel.ts'
import { bound, masters } from '../../support/people.ts'
import { apply, type Tenant } from '../../support/tenants.ts'
import {
  allTaken,
  answers,
  bindAs,
  claim,
  contentFor,
  cowboyKind,
  exportKind,
  kind,
  viewOf,
} from './exports.ts'
import type { Scene } from './scene.ts'

interface TokenStatus {
  readonly authenticated: boolean
  readonly user: { readonly extra: Readonly<Record<string, readonly string[]>> }
}

export const consumersAnswer = (scene: Scene): void => {
  it('TestAPIExportAuthDelegation: reviews are the consumer’s', async () => {
    const [provider, consumer] = (await scene.workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [
      claim('authorization.k8s.io', 'subjectaccessreviews'),
      claim('authorization.k8s.io', 'localsubjectaccessreviews'),
      claim('authentication.k8s.io', 'tokenreviews'),
    ]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(consumer, provider, name, allTaken(claims))
    await contentFor('user-2', provider)
    await apply(consumer.kubectl, bound('cluster-admin', 'user-3'))
    const view = (await viewOf(provider, name))(consumer)
    const group = 'authorization.k8s.io/v1'
    const resourceAttributes = { verb: 'get', version: 'v1', resource: 'secrets', namespace: 'default' }
    const spec = { user: 'user-3', groups: ['system:authenticated'], resourceAttributes }
    const review = (of: string) => ({ apiVersion: group, kind: of, spec })
    const asked = await answers(
      () => scene.post(`${view}/apis/${group}/subjectaccessreviews`, review('SubjectAccessReview'), 'user-2'),
      201,
    )
    assert.equal(asked.json().status?.allowed, true)
    const local = { ...review('LocalSubjectAccessReview'), metadata: { namespace: 'default' } }
    const path = `${view}/apis/${group}/namespaces/default/localsubjectaccessreviews`
    assert.equal((await scene.post(path, local, 'user-2')).json().status?.allowed, true)
    const token = await tokenOfDefault(consumer.kubectl)
    const tokenReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    const told = await scene.post(`${view}/apis/authentication.k8s.io/v1/tokenreviews`, tokenReview, 'user-2')
    const { authenticated, user } = told.json<{ status: TokenStatus }>().status
    assert.equal(authenticated, true)
    assert.deepEqual(user.extra['authentication.kcp.io/cluster-name'], [consumer.cluster])
  })

  it('TestAPIExportOpenAPI: documents exist for served resources, and for several kinds of a group', async () => {
    const [provider, consumer] = (await scene.workspaces('p', 'c')) as [Tenant, Tenant]
    const [first, second] = [cowboyKind, kind('wildwest.dev', 'sheriffs', 'Sheriff')].map(crd =>
      apiResourceSchemaOf(crd, 'today'),
    )
    assert.ok(first && second)
    const resource = (name: string) => ({
      group: 'wildwest.dev',
      name,
      schema: `today.${name}.wildwest.dev`,
      storage: { crd: {} },
    })
    await apply(provider.kubectl, first, second, {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name: 'wildwest.dev' },
      spec: { resources: ['cowboys', 'sheriffs'].map(resource) },
    } as KubeObject)
    await bindAs(consumer, provider, 'wildwest.dev')
    const view = (await viewOf(provider, 'wildwest.dev'))(consumer)
    const { paths } = (await scene.get(masters, `${view}/openapi/v3`)).json<{
      paths: Record<string, unknown>
    }>()
    for (const path of [
      ...['api', 'apis', 'version', 'apis/apis.kcp.io', 'apis/apis.kcp.io/v1alpha1'],
      ...['apis/wildwest.dev', 'apis/wildwest.dev/v1alpha1'],
    ])
      assert.ok(path in paths, path)
    const { body } = await scene.get(masters, `${view}/openapi/v3/apis/wildwest.dev/v1alpha1`)
    for (const of of ['Cowboy', 'Sheriff']) assert.match(body, new RegExp(`"kind": ?"${of}"`))
  })
}
