import assert from 'node:assert/strict'
import { eventually } from '../../support/oriel.ts'
import { bound, clusterRole, masters, type People } from '../../support/people.ts'
import { apply } from '../../support/tenants.ts'
import { at, configMaps, isReady, namespace, statusOf, workspace } from './scene.ts'

export const oneByOne = (people: People): void => {
  it('TestWorkspaces: users with access to an organization list its workspaces, and have access to none of them', async () => {
    await apply(people.admin.at(at('org1')), bound('cluster-admin', 'user-5'))
    const made = await people.post(
      'user-5',
      at('org1', '/apis/tenancy.kcp.io/v1alpha1/workspaces'),
      workspace('mine'),
    )
    assert.equal(made.status, 201, made.body)
    await isReady(people.admin.at(at('org1')), 'mine')
    await apply(people.admin.at(at('org1')), bound('system:kcp:tenancy:reader', 'user-1', 'user-2'))
    for (const user of ['user-1', 'user-2', 'user-5']) {
      const list = await people.as(user)(at('org1', '/apis/tenancy.kcp.io/v1alpha1/workspaces'))
      assert.ok(
        list.json().items?.some(({ metadata }) => metadata.name === 'mine'),
        user,
      )
    }
    assert.equal(await statusOf(people, 'user-5', at('org1:mine', configMaps)), 200)
    const nested = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
    assert.equal((await people.post('user-5', at('org1:mine', nested), workspace('nested'))).status, 201)
    assert.equal(await statusOf(people, 'user-2', at('org1:mine', configMaps)), 403)
    await apply(people.admin.at(at('org1:mine')), bound('cluster-admin', 'user-2'))
    assert.equal(await statusOf(people, 'user-2', at('org1:mine', configMaps)), 200)
  })

  it('TestImpersonation: no user may write the status of a workspace, with or without impersonation', async () => {
    const path = at('org1', '/apis/tenancy.kcp.io/v1alpha1/workspaces/workspace1/status')
    const patch = (headers: Record<string, string>) =>
      people.as('user-5')(path, {
        method: 'PATCH',
        body: '{"status":{"phase":"Unavailable"}}',
        headers: { 'content-type': 'application/merge-patch+json', ...headers },
      })
    assert.equal((await patch({})).status, 403)
    const masked = { 'impersonate-user': 'user-5', 'impersonate-group': 'system:masters' }
    assert.equal((await patch(masked)).status, 403)
  })

  it('TestImpersonateScoping: an impersonated user is scoped to the workspace', async () => {
    const here = await people.admin(['get', 'workspace', 'org1', '-o', 'jsonpath={.spec.cluster}'])
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const told = await people.as('user-5')(at('org1', '/apis/authentication.k8s.io/v1/selfsubjectreviews'), {
      method: 'POST',
      body: JSON.stringify(review),
      headers: {
        'content-type': 'application/json',
        'impersonate-user': 'user-5',
        'impersonate-group': 'elephant',
      },
    })
    const { userInfo } = told.json<{ status: { userInfo: { extra: Record<string, string[]> } } }>().status
    assert.deepEqual(userInfo.extra['authentication.kcp.io/scopes'], [`cluster:${here}`])
  })

  it('TestRootCACertConfigmap: every namespace gets the certificate authority of the server', async () => {
    await apply(people.admin.at(at('org1:workspace1')), namespace('new'))
    const path = at('org1:workspace1', '/api/v1/namespaces/new/configmaps/kube-root-ca.crt')
    const told = await eventually(
      () => people.as('user-1')(path),
      ({ status }) => status === 200,
    )
    assert.match(told.json<{ data: Record<string, string> }>().data['ca.crt'] ?? '', /BEGIN CERTIFICATE/)
  })

  it('TestShardMetricsEndpoint: metrics are served for users with permission in root', async () => {
    const path = at('org1', '/metrics')
    const reading = clusterRole('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] })
    await apply(people.admin.at(at('org1')), reading, bound('metrics', 'user-3'))
    for (const who of ['user-3', masters]) {
      const told = await people.as(who)(path)
      assert.equal(told.status, 501, who)
      assert.match(told.body, /shard-level endpoint not available at workspace scope/)
    }
    assert.equal(await statusOf(people, 'user-3', '/metrics'), 403)
    await apply(people.admin, bound('system:kcp:metrics-reader', 'user-3'))
    for (const who of ['user-3', masters]) assert.equal(await statusOf(people, who, '/metrics'), 200, who)
  })
}
