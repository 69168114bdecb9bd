import assert from 'node:assert/strict'
import type { KubeObject } from '../../../../framework/index.ts'
import { fixture, jsonPatch, merge, post } from '../../../conformance/fixture.ts'
import { clientOf } from '../../../support/client.ts'
import { userAt } from '../../../support/watcher.ts'
import { at, done, exported, type Lair, rbac, refused, secret, secrets } from './lair.ts'

export const takesNothingFromTheSystem = (scene: Lair): void => {
  describe('cannot take over system objects', () => {
    const workspaces = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
    const logicalClusters = '/apis/core.kcp.io/v1alpha1/logicalclusters'
    const workspace = (name: string, spec: object = {}, annotations: object = {}): KubeObject =>
      ({
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        kind: 'Workspace',
        metadata: { name, annotations },
        spec,
      }) as KubeObject

    it('by a workspace that names an existing logical cluster', async () => {
      const spec = { cluster: scene.victim.cluster, URL: `${scene.oriel.url}${at(scene.victim)}` }
      const adopted = await scene.mallory(at(scene.lair) + workspaces, post(workspace('adopted', spec)))
      assert.ok([403, 422].includes(adopted.status), adopted.text)
      done(await scene.mallory(at(scene.lair) + workspaces, post(workspace('own'))), 201)
      const moved = await scene.mallory(`${at(scene.lair)}${workspaces}/own`, merge({ spec }))
      assert.ok([403, 422].includes(moved.status), moved.text)
      const status = await scene.mallory(
        `${at(scene.lair)}${workspaces}/own/status`,
        merge({ status: { phase: 'Ready' } }),
      )
      refused(status)
    })

    it('by a workspace that names its owner', async () => {
      const owner = JSON.stringify({ username: 'kcp-admin', groups: ['system:masters'] })
      const annotations = { 'experimental.tenancy.kcp.io/owner': owner }
      const reply = await scene.mallory(
        at(scene.lair) + workspaces,
        post(workspace('owned', {}, annotations)),
      )
      const kept = reply.json().metadata?.annotations?.['experimental.tenancy.kcp.io/owner'] ?? '{}'
      assert.ok(reply.status === 403 || JSON.parse(kept).username === 'mallory', reply.text)
    })

    it('by logical clusters', async () => {
      const made = {
        apiVersion: 'core.kcp.io/v1alpha1',
        kind: 'LogicalCluster',
        metadata: { name: 'cluster' },
        spec: {},
      }
      for (const body of [made, { ...made, metadata: { name: 'other' } }]) {
        const reply = await scene.mallory(at(scene.lair) + logicalClusters, post(body))
        assert.ok([403, 409, 422].includes(reply.status), reply.text)
      }
      const url = `${at(scene.lair)}${logicalClusters}/cluster`
      const before = done(await scene.mallory(url)).json()
      const changes: readonly object[] = [
        { metadata: { annotations: { 'kcp.io/path': 'root:victim' } } },
        { metadata: { annotations: { 'kcp.io/shard': 'other', 'core.kcp.io/shard': 'other' } } },
        {
          spec: {
            owner: { cluster: 'root', name: 'victim', uid: 'x', apiVersion: 'v1', resource: 'workspaces' },
          },
        },
        { spec: { initializers: [] } },
      ]
      for (const change of changes) await scene.mallory(url, merge(change))
      refused(await scene.mallory(`${url}/status`, merge({ status: { phase: 'Initializing' } })))
      refused(await scene.mallory(url, { method: 'DELETE' }))
      const { metadata, status } = done(await scene.mallory(url)).json()
      assert.equal(metadata.annotations?.['kcp.io/path'], 'root:lair')
      assert.equal(metadata.annotations?.['kcp.io/shard'], undefined)
      assert.equal(metadata.annotations?.['core.kcp.io/shard'], 'root')
      assert.deepEqual(status, before.status)
      assert.equal(
        (await scene.admin(`/clusters/root:victim${secrets}/hush`)).json().metadata.annotations?.[
          'kcp.io/cluster'
        ],
        scene.victim.cluster,
      )
    })

    it('by definitions of its own kinds', async () => {
      for (const [group, plural] of [
        ['apis.kcp.io', 'apibindings'],
        ['core.kcp.io', 'logicalclusters'],
        ['tenancy.kcp.io', 'workspaces'],
        ['rbac.authorization.k8s.io', 'clusterroles'],
        ['apiextensions.k8s.io', 'customresourcedefinitions'],
      ] as const) {
        const { names, ...spec } = fixture.spec as { names: { plural: string } }
        const body = {
          ...fixture,
          metadata: {
            name: `${plural}.${group}`,
            annotations: { 'api-approved.kubernetes.io': 'unapproved' },
          },
          spec: { ...spec, group, names: { ...names, plural } },
        }
        const reply = await scene.mallory(
          `${at(scene.lair)}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`,
          post(body),
        )
        const roles = await scene.mallory(`${at(scene.lair)}${rbac}/clusterroles`)
        assert.equal(roles.status, 200)
        assert.equal(roles.json().items?.[0]?.kind ?? 'ClusterRole', 'ClusterRole')
        assert.equal(reply.status, ['apis.kcp.io', 'core.kcp.io'].includes(group) ? 403 : 201, reply.text)
      }
    })

    it('by roles that aggregate rules of other roles', async () => {
      const bob = await clientOf(userAt(scene.oriel, scene.oriel.url, 'bob-token'))
      const role = (name: string, more: object) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name },
        ...more,
      })
      const rules = [
        {
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          verbs: ['get', 'create', 'update', 'patch'],
        },
        { nonResourceURLs: ['/'], verbs: ['access'] },
      ]
      done(await scene.mallory(`${at(scene.lair)}${rbac}/clusterroles`, post(role('bob', { rules }))), 201)
      await scene.lair.kubectl(['create', 'clusterrolebinding', 'bob', '--clusterrole=bob', '--user=bob'])
      const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
      const create = (body: object) => bob(`${at(scene.lair)}${rbac}/clusterroles`, post(body))
      refused(await create(role('gathering', { aggregationRule, rules: [] })))
      refused(await create(role('all', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] })))
      refused(
        await bob(
          `${at(scene.lair)}${rbac}/clusterroles/bob`,
          merge({ rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }),
        ),
      )
      refused(await bob(`${at(scene.lair)}${rbac}/clusterroles/bob`, merge({ aggregationRule })))
      refused(await bob(`${at(scene.lair)}${secrets}`))
    })

    it('by keys of identities', async () => {
      for (const tenant of [scene.provider, scene.victim])
        refused(await scene.mallory(`${at(tenant)}/api/v1/namespaces/kcp-system/secrets`))
      const { items = [] } = done(
        await scene.mallory(`${at(scene.lair)}/api/v1/namespaces/kcp-system/secrets`),
      ).json()
      for (const item of items)
        assert.equal(item.metadata.annotations?.['kcp.io/cluster'], scene.lair.cluster)
    })

    it('by exports of built-in kinds', async () => {
      const schema = (group: string, plural: string, kind: string) => ({
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIResourceSchema',
        metadata: {
          name: `v2.${plural}.${group || 'core'}`,
          annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' },
        },
        spec: {
          group,
          names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
          scope: 'Namespaced',
          versions: [{ name: 'v1', served: true, storage: true, schema: open }],
        },
      })
      const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
      const greedy = [
        schema('', 'secrets', 'Secret'),
        schema('authorization.k8s.io', 'localsubjectaccessreviews', 'LocalSubjectAccessReview'),
      ]
      for (const body of greedy) {
        const { group, names } = body.spec
        const url = `/clusters/${scene.provider.cluster}${exported}/apiexports/example.com`
        done(
          await scene.admin(
            `/clusters/${scene.provider.cluster}/apis/apis.kcp.io/v1alpha1/apiresourceschemas`,
            post(body),
          ),
          201,
        )
        const storage = { crd: {} }
        const resource = { group, name: names.plural, schema: body.metadata.name, storage }
        done(await scene.admin(url, jsonPatch([{ op: 'add', path: '/spec/resources/-', value: resource }])))
      }
      const word = post({ ...secret, metadata: { name: 'later' } })
      done(await scene.admin(at(scene.victim) + secrets, word), 201)
      const { items } = done(await scene.admin(`${scene.view}/clusters/*/api/v1/secrets`)).json()
      assert.deepEqual(items, [])
      const review = post({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'LocalSubjectAccessReview',
        metadata: { namespace: 'default' },
        spec: { user: 'x', resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'default' } },
      })
      const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews'
      const { status } = done(await scene.admin(at(scene.victim) + path, review), 201).json()
      assert.equal((status as { allowed: boolean }).allowed, false)
    })
  })
}
