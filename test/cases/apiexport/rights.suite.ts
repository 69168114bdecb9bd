import assert from 'node:assert/strict'
import { bound, clusterRole } from '../../support/people.ts'
import { apply, bindingOf, type Tenant } from '../../support/tenants.ts'
import {
  allTaken,
  answers,
  bindAs,
  bindings,
  claim,
  configMap,
  configMaps,
  contentFor,
  cowboyKind,
  cowboys,
  exportKind,
  identityOf,
  sheriff,
  sheriffKind,
  sheriffs,
  viewOf,
} from './exports.ts'
import type { Scene } from './scene.ts'

export const rightsAreAskedOfEverybody = (scene: Scene): void => {
  it('TestAPIExportAuthorizers: the maximal permission policy of the claimed export applies to the claimer, and a shadowed resource cannot be claimed', async () => {
    const [wild, provider, consumer] = (await scene.workspaces('w', 'p', 'c')) as [Tenant, Tenant, Tenant]
    const wildName = await exportKind(wild, sheriffKind, { isGuarded: true })
    const identityHash = await identityOf(wild, wildName)
    const claims = [claim('', 'configmaps'), claim('wild.wild.west', 'sheriffs', { identityHash })]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(consumer, wild, wildName)
    await bindAs(consumer, provider, name, allTaken(claims))
    await contentFor('user-2', provider)
    const view = await viewOf(provider, name)
    await answers(() => scene.get('user-2', `${view()}/api/v1/configmaps`), 200)
    const refused = await scene.get('user-2', view() + sheriffs.replace('v1alpha1', 'v1'))
    assert.equal(refused.status, 403)
    assert.match(
      refused.json().message ?? '',
      /sheriffs.wild.wild.west is forbidden: User "user-2" cannot list resource "sheriffs" in API group "wild.wild.west" at the cluster scope: access denied/,
    )
    const all = { verbs: ['*'], apiGroups: ['wild.wild.west'], resources: ['sheriffs'] }
    await apply(wild.kubectl, clusterRole('sheriffs', all), bound('sheriffs', 'apis.kcp.io:binding:user-2'))
    for (const path of [view(), view(consumer)])
      await answers(() => scene.get('user-2', path + sheriffs), 200)
    const [shadowed] = (await scene.workspaces('shadowed')) as [Tenant]
    await apply(shadowed.kubectl, cowboyKind)
    await apply(shadowed.kubectl, bindingOf(provider, name, []))
    await answers(() => scene.get('user-2', view(shadowed) + bindings), 200)
    assert.equal((await scene.get('user-2', view(shadowed) + cowboys)).status, 403)
  })

  it('TestAPIExportBindingAuthorizer: no logical cluster is accessible before it binds the export and accepts the claim', async () => {
    const [provider, tenant] = (await scene.workspaces('p', 't')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps')]
    const name = await exportKind(provider, sheriffKind, { claims })
    const [dummy] = (await scene.workspaces('dummy')) as [Tenant]
    await bindAs(dummy, provider, name)
    await contentFor('user-2', provider)
    const view = (await viewOf(provider, name))(tenant)
    const make = () => scene.post(view + configMaps, configMap('made'), 'user-2')
    const makeSheriff = () =>
      scene.post(
        `${view}/apis/wild.wild.west/v1alpha1/namespaces/default/sheriffs`,
        sheriff('made'),
        'user-2',
      )
    for (const ask of [make, makeSheriff]) assert.equal((await ask()).status, 403)
    const accept = (state: string) =>
      apply(tenant.kubectl, bindingOf(provider, name, allTaken(claims, { state })))
    await accept('Rejected')
    await answers(makeSheriff, 201)
    assert.equal((await make()).status, 403)
    await accept('Accepted')
    await answers(make, 201)
    await accept('Rejected')
    await answers(() => scene.get('user-2', `${view}${configMaps}/made`, { method: 'DELETE' }), 403)
  })

  it('TestRootAPIExportAuthorizers: root’s own exports can be claimed, under their policy', async () => {
    const [provider, tenant] = (await scene.workspaces('p', 't')) as [Tenant, Tenant]
    const identityHash = await scene.people.admin([
      ...['get', 'apiexport', 'tenancy.kcp.io', '-o', 'jsonpath={.status.identityHash}'],
    ])
    const claims = [claim('tenancy.kcp.io', 'workspacetypes', { identityHash })]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(tenant, provider, name, allTaken(claims))
    await contentFor('user-2', provider)
    const view = (await viewOf(provider, name))(tenant)
    const types = '/apis/tenancy.kcp.io/v1alpha1/workspacetypes'
    const type = {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'WorkspaceType',
      metadata: { name: 'made-through-the-view' },
    }
    await answers(() => scene.post(view + types, type, 'user-2'), 201)
    assert.ok((await scene.namesAt(`/clusters/${tenant.path}${types}`)).includes('made-through-the-view'))
  })

  it('TestBinding: a user who binds through a view needs the verb bind', async () => {
    const [manager, restricted, consumer] = (await scene.workspaces('m', 'r', 'c')) as [
      Tenant,
      Tenant,
      Tenant,
    ]
    const claims = [claim('apis.kcp.io', 'apibindings')]
    const name = await exportKind(manager, cowboyKind, { claims })
    const other = await exportKind(restricted, sheriffKind)
    await bindAs(consumer, manager, name, allTaken(claims))
    await contentFor('user-2', manager)
    const view = (await viewOf(manager, name))(consumer)
    const make = () => scene.post(view + bindings, bindingOf(restricted, other, []), 'user-2')
    await answers(() => scene.get('user-2', view + bindings), 200)
    const refused = await make()
    assert.equal(refused.status, 403)
    assert.match(refused.body, /no permission to bind to export/)
    const rule = {
      verbs: ['bind'],
      apiGroups: ['apis.kcp.io'],
      resources: ['apiexports'],
      resourceNames: [other],
    }
    await apply(restricted.kubectl, clusterRole('bind', rule), bound('bind', 'user-2'))
    await answers(make, 201)
  })
}
