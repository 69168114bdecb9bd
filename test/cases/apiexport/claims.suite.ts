import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { eventually } from '../../support/oriel.ts'
import { masters } from '../../support/people.ts'
import { apply, bindingOf, type Tenant } from '../../support/tenants.ts'
import {
  allTaken,
  answers,
  bindAs,
  bindings,
  type Claim,
  claim,
  configMap,
  configMaps,
  contentFor,
  cowboyKind,
  exportKind,
  identityOf,
  secret,
  sheriff,
  sheriffKind,
  sheriffs,
  taken,
  viewOf,
} from './exports.ts'
import type { Scene } from './scene.ts'

/** The status code of an apply that creates an object: kcp's views answer 200 instead of 201. */
const appliedNew = process.env.KCP_BIN === undefined ? 201 : 200

export const claimsAreWhatIsAccepted = (scene: Scene): void => {
  it('TestAPIExportAPIBindingsAccess: an export sees its own bindings, and with a claim all bindings of consumers that accept it', async () => {
    const [provider, other, consumer] = (await scene.workspaces('p', 'o', 'c')) as [Tenant, Tenant, Tenant]
    const claims = [claim('apis.kcp.io', 'apibindings')]
    const name = await exportKind(provider, cowboyKind, { claims })
    const others = await exportKind(other, sheriffKind)
    await bindAs(consumer, other, others)
    await bindAs(consumer, provider, name)
    const all = (await viewOf(provider, name))() + bindings
    await scene.becomes(all, [name])
    const accept = (state: string) =>
      apply(consumer.kubectl, bindingOf(provider, name, allTaken(claims, { state })))
    await accept('Accepted')
    await eventually(
      () => scene.namesAt(all),
      found => found.includes(others) && found.some(each => each.startsWith('tenancy.kcp.io')),
    )
    await accept('Rejected')
    await scene.becomes(all, [name])
  })

  it('TestAPIExportPermissionClaims: claimed objects come with acceptance, and go with the claim', async () => {
    const [wild, provider, consumer, stranger] = (await scene.workspaces('w', 'p', 'c', 's')) as Tenant[] as [
      ...[Tenant, Tenant, Tenant, Tenant],
    ]
    const wildName = await exportKind(wild, sheriffKind)
    for (const tenant of [consumer, stranger]) await bindAs(tenant, wild, wildName)
    const at = ({ path }: Tenant) => `/clusters/${path}`
    const namespaced = '/apis/wild.wild.west/v1alpha1/namespaces/default/sheriffs'
    await scene.post(at(consumer) + namespaced, sheriff('before'))
    await scene.post(at(stranger) + namespaced, sheriff('foreign'))
    const identityHash = await identityOf(wild, wildName)
    const claims = [
      ...['configmaps', 'secrets', 'serviceaccounts'].map(resource => claim('', resource)),
      claim('rbac.authorization.k8s.io', 'clusterroles'),
      claim('authorization.k8s.io', 'subjectaccessreviews'),
      claim('wild.wild.west', 'sheriffs', { identityHash }),
    ]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(consumer, provider, name)
    const all = (await viewOf(provider, name))()
    const lists = [
      '/api/v1/configmaps',
      '/api/v1/secrets',
      '/api/v1/serviceaccounts',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      sheriffs,
    ]
    for (const path of lists) await scene.becomes(all + path, [])
    await scene.becomes(all + bindings, [name])
    await apply(consumer.kubectl, bindingOf(provider, name, allTaken(claims)))
    await scene.becomes(all + sheriffs, ['before'])
    await scene.post(at(consumer) + namespaced, sheriff('later'))
    await scene.becomes(all + sheriffs, ['before', 'later'])
    await eventually(
      () => scene.namesAt(`${all}/api/v1/configmaps`),
      found => found.includes('kube-root-ca.crt'),
    )
    const status = await consumer.kubectl.json<{ status: { appliedPermissionClaims: readonly object[] } }>([
      ...['get', 'apibinding', name],
    ])
    assert.equal(status.status.appliedPermissionClaims.length, claims.length)
    const without = claims.filter(({ resource }) => resource !== 'configmaps')
    const patch = JSON.stringify({ spec: { permissionClaims: without } })
    await provider.kubectl(['patch', 'apiexport', name, '--type=merge', '-p', patch])
    await answers(() => scene.get(masters, `${all}/api/v1/configmaps`), 404)
    const rejected = without.map(each =>
      taken(each, { state: each.resource === 'sheriffs' ? 'Rejected' : 'Accepted' }),
    )
    await apply(consumer.kubectl, bindingOf(provider, name, rejected))
    await scene.becomes(all + sheriffs, [])
  })

  it('TestAPIExportPermissionClaimsDefaultSelector: a default selector changes no label', async () => {
    const [provider, consumer] = (await scene.workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps', { defaultSelector: { matchAll: true } })]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(consumer, provider, name, allTaken(claims))
    await scene.post(`/clusters/${consumer.path}${configMaps}`, configMap('seen'))
    const view = (await viewOf(provider, name))(consumer)
    await scene.becomes(view + configMaps, ['kube-root-ca.crt', 'seen'])
  })

  it('TestAPIExportClaimableBuiltInAPIsDrift: claimable resources are those of every workspace', async () => {
    const [plain] = (await scene.workspaces('plain')) as [Tenant]
    const review = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews']
    const served = await scene.discovered(`/clusters/${plain.path}`)
    // Views are declared by the workspace that has the source, so that no provider needs those of others.
    const isOfWorkspaces = (each: string) =>
      each === 'views.views.oriel.dev' || (/\.kcp\.io$/.test(each) && !each.endsWith('.core.kcp.io'))
    const wanted = served.filter(
      each => !isOfWorkspaces(each) && !review.some(no => each.startsWith(`${no}.`)),
    )
    const [provider, consumer] = (await scene.workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = wanted.map(each => {
      const [resource = '', ...group] = each.split('.')
      return claim(group.join('.'), resource)
    })
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(consumer, provider, name, allTaken(claims))
    const offered = await scene.discovered((await viewOf(provider, name))(consumer))
    for (const each of wanted) assert.ok(offered.includes(each), `${each} cannot be claimed`)
  })

  it('TestAPIBindingPermissionClaimsVerbs and …SSA: a verb needs both the export’s claim and the binding’s', async () => {
    const [provider, consumer] = (await scene.workspaces('p', 'c')) as [Tenant, Tenant]
    const reading = ['get', 'list', 'watch', 'patch']
    const claimed = (verbs: readonly string[]) => [
      claim('', 'configmaps', { verbs }),
      claim('', 'secrets', { verbs }),
    ]
    const name = await exportKind(provider, cowboyKind, { claims: claimed(reading) })
    await bindAs(consumer, provider, name, allTaken(claimed(reading)))
    await contentFor('user-2', provider)
    const view = (await viewOf(provider, name))(consumer)
    const makeSecret = () => scene.post(`${view}/api/v1/namespaces/default/secrets`, secret('made'), 'user-2')
    const applyNew = () => scene.applied(`${view}${configMaps}/new`, configMap('new'), 'user-2')
    await answers(() => scene.get('user-2', `${view}/api/v1/secrets`), 200)
    for (const ask of [makeSecret, applyNew]) assert.equal((await ask()).status, 403)
    const more = claimed([...reading, 'create'])
    const patch = JSON.stringify({ spec: { permissionClaims: more } })
    await provider.kubectl(['patch', 'apiexport', name, '--type=merge', '-p', patch])
    assert.equal((await makeSecret()).status, 403)
    await apply(consumer.kubectl, bindingOf(provider, name, allTaken(more)))
    await answers(makeSecret, 201)
    await answers(applyNew, appliedNew)
    const fewer = more.map(each => taken(each.resource === 'configmaps' ? { ...each, verbs: reading } : each))
    await apply(consumer.kubectl, bindingOf(provider, name, fewer))
    await answers(() => scene.post(view + configMaps, configMap('another'), 'user-2'), 403)
    assert.equal((await scene.get('user-2', `${view}/api/v1/configmaps`)).status, 200)
  })

  it('TestAPIBindingPermissionClaimsSelectors: selectors apply to reads, creations, changes and deletions', async () => {
    const [provider, consumer] = (await scene.workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps'), claim('', 'secrets')]
    const name = await exportKind(provider, cowboyKind, { claims })
    const [maps, keys] = claims as [Claim, Claim]
    const inside = `/clusters/${consumer.path}`
    const secretsPath = '/api/v1/namespaces/default/secrets'
    await scene.post(inside + configMaps, configMap('own'))
    await scene.post(inside + configMaps, configMap('shared', { team: 'red' }))
    await scene.post(inside + secretsPath, secret('own'))
    await scene.post(inside + secretsPath, secret('shared', { team: 'red' }))
    await bindAs(consumer, provider, name, [
      taken(maps, { selector: { matchLabels: { team: 'red' } } }),
      taken(keys, { selector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['red'] }] } }),
    ])
    const view = (await viewOf(provider, name))(consumer)
    await scene.becomes(`${view}/api/v1/configmaps`, ['shared'])
    await scene.becomes(`${view}/api/v1/secrets`, ['shared'])
    const labelled = await scene.post(view + configMaps, configMap('made'))
    assert.equal(labelled.json<KubeObject>().metadata.labels?.team, 'red')
    assert.equal((await scene.post(view + secretsPath, secret('made'))).status, 403)
    for (const path of [`${configMaps}/own`, `${secretsPath}/own`]) {
      const { status } = await scene.get(masters, view + path, { method: 'DELETE' })
      assert.ok([403, 404].includes(status), `${path}: ${status}`)
    }
    const label = (path: string, labels: Record<string, string | null>) =>
      scene.send('PATCH', view + path, { metadata: { labels } }, 'application/merge-patch+json')
    assert.equal((await label(`${configMaps}/shared`, { other: 'a' })).status, 200)
    const kept = await label(`${configMaps}/shared`, { team: null })
    assert.equal(kept.json<KubeObject>().metadata.labels?.team, 'red')
    assert.equal((await label(`${configMaps}/shared`, { team: 'blue' })).status, 403)
    assert.equal((await label(`${secretsPath}/shared`, { team: null })).status, 403)
    assert.equal((await scene.get(masters, view + configMaps, { method: 'DELETE' })).status, 200)
    const left = await scene.namesAt(inside + configMaps)
    assert.ok(left.includes('own') && !left.includes('shared') && !left.includes('made'))
  })

  it('TestAPIBindingPermissionClaimsSelectorUpdate: a changed selector labels existing objects again', async () => {
    const [provider, consumer] = (await scene.workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps')]
    const name = await exportKind(provider, cowboyKind, { claims })
    const inside = `/clusters/${consumer.path}${configMaps}`
    await scene.post(inside, configMap('foo', { foo: 'bar' }))
    await scene.post(inside, configMap('plain'))
    await bindAs(consumer, provider, name, allTaken(claims))
    const view = (await viewOf(provider, name))(consumer)
    await scene.becomes(view + configMaps, ['foo', 'kube-root-ca.crt', 'plain'])
    const selector = { matchLabels: { foo: 'bar' } }
    const narrowed = allTaken(claims, { selector })
    await apply(consumer.kubectl, bindingOf(provider, name, narrowed))
    await scene.becomes(view + configMaps, ['foo'])
  })
}
