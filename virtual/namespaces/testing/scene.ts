import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { AdminScene } from '../../../test/support/views/adminscene.ts'
import { startInstallation } from '../../../testing/index.ts'
import { namespaces } from '../index.ts'

const rbac = 'rbac.authorization.k8s.io'
const roles = { apiVersion: `${rbac}/v1` }

const namespace = (name: string, labels: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})

/** Roles of the workspace: `member` may enter it, `reader` may get its namespaces. */
const clusterRoles: readonly KubeObject[] = [
  {
    ...roles,
    kind: 'ClusterRole',
    metadata: { name: 'member' },
    rules: [{ nonResourceURLs: ['/'], verbs: ['access'] }],
  },
  {
    ...roles,
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get'] }],
  },
]

/** A grant of a role: in one namespace, or in the whole logical cluster. */
export interface Grant {
  readonly cluster: string
  readonly role: 'member' | 'reader'
  readonly user: string
  readonly namespace?: string
}

const bindingOf = ({ role, user, namespace: of }: Grant): KubeObject => ({
  ...roles,
  kind: of === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
  metadata: { name: `${role}-${user}`, ...(of && { namespace: of }) },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
})

const bindingsPath = ({ cluster, namespace: of }: Grant): string =>
  of === undefined
    ? `/clusters/${cluster}/apis/${rbac}/v1/clusterrolebindings`
    : `/clusters/${cluster}/apis/${rbac}/v1/namespaces/${of}/rolebindings`

/** The path of the view over a scope. */
export const viewOver = (scope = '*'): string => `/services/namespaces/clusters/${scope}/api/v1/namespaces`

/** The cluster and name of a namespace. */
export const idOf = ({ metadata }: KubeObject): string =>
  `${metadata.annotations?.['kcp.io/cluster']}/${metadata.name}`

/** An installation with the view, and an administrator who changes permissions. */
export class Scene extends AdminScene {
  static async start(...clusters: readonly string[]): Promise<Scene> {
    const oriel = await startInstallation({ plugins: [() => namespaces] })
    for (const cluster of clusters) await oriel.cluster(cluster, ...clusterRoles)
    return new Scene(oriel)
  }

  async grant(grant: Grant): Promise<void> {
    const reply = await this.admin.request(bindingsPath(grant), { method: 'POST', body: bindingOf(grant) })
    assert.equal(reply.status, 201, reply.text)
  }

  async withdraw(grant: Grant): Promise<void> {
    const path = `${bindingsPath(grant)}/${bindingOf(grant).metadata.name}`
    const reply = await this.admin.request(path, { method: 'DELETE' })
    assert.equal(reply.status, 200, reply.text)
  }

  async create(cluster: string, name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const path = `/clusters/${cluster}/api/v1/namespaces`
    const reply = await this.admin.request(path, { method: 'POST', body: namespace(name, labels) })
    assert.equal(reply.status, 201, reply.text)
  }

  async label(cluster: string, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const path = `/clusters/${cluster}/api/v1/namespaces/${name}`
    const reply = await this.admin.request(path, { method: 'PATCH', body: { metadata: { labels } } })
    assert.equal(reply.status, 200, reply.text)
  }

  /** The namespaces that a user lists. */
  async listed(user: string, scope = '*'): Promise<readonly string[]> {
    return (await this.oriel.as(user).list(viewOver(scope))).map(idOf).toSorted()
  }
}
