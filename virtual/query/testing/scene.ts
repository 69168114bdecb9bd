import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { AdminScene } from '../../../test/support/views/adminscene.ts'
import { type Installation, startInstallation, type TestUser } from '../../../testing/index.ts'
import { query } from '../index.ts'

export const configMap = (
  name: string,
  data: Readonly<Record<string, string>> = {},
  namespace = 'default',
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { of: name } },
  data,
})

export const rbac = 'rbac.authorization.k8s.io'
export const role = (
  kind: 'Role' | 'ClusterRole',
  name: string,
  verbs: readonly string[],
  namespace?: string,
) => ({
  apiVersion: `${rbac}/v1`,
  kind,
  metadata: { name, ...(namespace && { namespace }) },
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
})
export const binding = (kind: 'Role' | 'ClusterRole', name: string, role: string, namespace?: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: `${kind}Binding`,
  metadata: { name, ...(namespace && { namespace }) },
  subjects: [{ kind: 'User', apiGroup: rbac, name: 'ada' }],
  roleRef: { apiGroup: rbac, kind, name: role },
})
export const access = [
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'access' },
    rules: [{ nonResourceURLs: ['/'], verbs: ['access'] }],
  },
  binding('ClusterRole', 'access', 'access'),
] as readonly KubeObject[]
export const reads = [
  role('ClusterRole', 'reads', ['get', 'list', 'watch']),
  binding('ClusterRole', 'reads', 'reads'),
] as readonly KubeObject[]

export const path = (search = '', cluster = '*', namespace = ''): string => {
  const within = namespace === '' ? '' : `namespaces/${namespace}/`
  return `/services/query/clusters/${cluster}/api/v1/${within}configmaps${search}`
}
export const where = (expression: string, more = ''): string =>
  `?where=${encodeURIComponent(expression)}${more}`
export const idOf = ({ metadata }: KubeObject): string =>
  `${metadata.annotations?.['kcp.io/cluster']}/${metadata.name}`

export const crd = (group: string, plural: string, properties: object): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, singular: plural, kind: 'Thing', listKind: 'ThingList' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
        },
      },
    ],
  },
})
export const thing = (name: string, spec: object) =>
  ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name }, spec }) as KubeObject
export const readThings = [
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'things' },
    rules: [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['list', 'watch'] }],
  },
  binding('ClusterRole', 'things', 'things'),
] as readonly KubeObject[]
export const things = (search = '') => `/services/query/clusters/*/apis/example.com/v1/things${search}`

/** An installation with queries: ada may read config maps in the logical clusters one and two, and not in secret. */
export class QueryScene extends AdminScene {
  readonly ada: TestUser

  private constructor(oriel: Installation) {
    super(oriel)
    this.ada = oriel.as({ name: 'ada', groups: ['system:authenticated'] })
  }

  static async start(): Promise<QueryScene> {
    const oriel = await startInstallation({ plugins: [() => query] })
    await oriel.cluster(
      'one',
      ...access,
      ...reads,
      configMap('a', { size: '3' }),
      configMap('b', { size: '1' }),
    )
    await oriel.cluster('two', ...access, ...reads, configMap('c', { size: '2' }), configMap('d'))
    await oriel.cluster('secret', configMap('hidden', { size: '9' }), configMap('other', { size: '2' }))
    return new QueryScene(oriel)
  }

  async found(user: TestUser, at: string): Promise<readonly string[]> {
    const { status, text, object } = await user.request(at)
    assert.equal(status, 200, text)
    return ((object?.items ?? []) as readonly KubeObject[]).map(idOf)
  }

  async write(cluster: string, name: string, size: string): Promise<void> {
    const at = `/clusters/${cluster}/api/v1/namespaces/default/configmaps/${name}`
    const { status, text } = await this.admin.request(at, { method: 'PATCH', body: { data: { size } } })
    assert.equal(status, 200, text)
  }
}
