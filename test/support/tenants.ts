import type { KubeObject } from '../../framework/index.ts'
import { apiResourceSchemaOf } from './crds.ts'
import { eventually, type Kubectl, kubectlFor, type Oriel } from './oriel.ts'

const tenancy = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace' }
const apis = (version: string, kind: string) => ({ apiVersion: `apis.kcp.io/${version}`, kind })

export interface Tenant {
  readonly path: string
  /** The logical cluster's name. */
  readonly cluster: string
  readonly kubectl: Kubectl
}

export const apply = (kubectl: Kubectl, ...objects: readonly KubeObject[]): Promise<string> =>
  kubectl(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n'))

/** Workspaces below root, Ready. */
export async function createWorkspaces(oriel: Oriel, names: readonly string[]): Promise<readonly Tenant[]> {
  const root = kubectlFor(oriel, 'root')
  await apply(root, ...names.map(name => ({ ...tenancy, metadata: { name } })))
  await root([
    'wait',
    '--for=jsonpath={.status.phase}=Ready',
    '--timeout=60s',
    ...names.map(name => `workspace/${name}`),
  ])
  return Promise.all(
    names.map(async name => {
      const cluster = await root(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}'])
      return { path: `root:${name}`, cluster, kubectl: root.at(`/clusters/root:${name}`) }
    }),
  )
}

export interface Claim {
  readonly group: string
  readonly resource: string
  readonly verbs?: readonly string[]
  /** Of the export of the resource; absent for resources of every logical cluster. */
  readonly identityHash?: string
}

/** A provider's schema and export, with its identity hash. */
export async function exportApi(
  provider: Tenant,
  crd: KubeObject,
  claims: readonly Claim[],
): Promise<string> {
  const { group, names } = crd.spec as { group: string; names: { plural: string } }
  const schema = apiResourceSchemaOf(crd, 'v1')
  const resources = [{ group, name: names.plural, schema: schema.metadata.name, storage: { crd: {} } }]
  const permissionClaims = claims.map(claim => ({ verbs: ['*'], ...claim }))
  await apply(provider.kubectl, schema, {
    ...apis('v1alpha2', 'APIExport'),
    metadata: { name: group },
    spec: { resources, permissionClaims },
  })
  await provider.kubectl(['wait', '--for=condition=IdentityValid', '--timeout=60s', `apiexport/${group}`])
  return group
}

export const bindingOf = (provider: Tenant, name: string, claims: readonly object[]): KubeObject => ({
  ...apis('v1alpha2', 'APIBinding'),
  metadata: { name },
  spec: { reference: { export: { path: provider.path, name } }, permissionClaims: claims },
})

/** Binds the export and waits until its resources are served. */
export async function bind(consumer: Tenant, binding: KubeObject): Promise<void> {
  await apply(consumer.kubectl, binding)
  await consumer.kubectl([
    'wait',
    '--for=condition=Ready',
    '--timeout=60s',
    `apibinding/${binding.metadata.name}`,
  ])
}

interface Slice {
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

/** The URL that the export's endpoint slice lists. */
export async function publishedUrl(provider: Tenant, name: string): Promise<string> {
  const slice = await eventually(
    () => provider.kubectl.json<Slice>(['get', 'apiexportendpointslice', name]),
    found => (found.status?.endpoints?.length ?? 0) > 0,
  )
  return slice.status?.endpoints?.[0]?.url ?? ''
}

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** Gives a user access to a workspace, with these rules. */
export function rolesFor(user: string, ...rules: readonly Rule[]): readonly KubeObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const name = `${user}-in-tests`
  return [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ nonResourceURLs: ['/'], verbs: ['access'] }, ...rules],
    },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  ]
}
