import type { KubeObject } from '../../../framework/index.ts'
import { apiResourceSchemaOf } from '../../support/crds.ts'
import { eventually } from '../../support/oriel.ts'
import { bound, clusterRole, type Told } from '../../support/people.ts'
import { apply, bindingOf, publishedUrl, type Tenant } from '../../support/tenants.ts'

export const configMaps = '/api/v1/namespaces/default/configmaps'
export const sheriffs = '/apis/wild.wild.west/v1alpha1/sheriffs'
export const cowboys = '/apis/wildwest.dev/v1alpha1/cowboys'
export const bindings = '/apis/apis.kcp.io/v1alpha2/apibindings'

export const kind = (group: string, plural: string, name: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, singular: name.toLowerCase(), kind: name, listKind: `${name}List` },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { intent: { type: 'string' } } } },
          },
        },
      },
    ],
  },
})

export const cowboyKind = kind('wildwest.dev', 'cowboys', 'Cowboy')
export const sheriffKind = kind('wild.wild.west', 'sheriffs', 'Sheriff')

const object = (apiVersion: string, of: string, name: string, labels: Record<string, string> = {}) => ({
  apiVersion,
  kind: of,
  metadata: { name, namespace: 'default', labels },
})
export const sheriff = (name: string) => object('wild.wild.west/v1alpha1', 'Sheriff', name)
export const configMap = (name: string, labels: Record<string, string> = {}) =>
  object('v1', 'ConfigMap', name, labels)
export const secret = (name: string, labels: Record<string, string> = {}) =>
  object('v1', 'Secret', name, labels)

export interface Claim {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly identityHash?: string
  readonly defaultSelector?: object
}
export const claim = (group: string, resource: string, more: Partial<Claim> = {}): Claim => ({
  group,
  resource,
  verbs: ['*'],
  ...more,
})
export const taken = ({ defaultSelector: _, ...given }: Claim, more: object = {}) => ({
  ...given,
  state: 'Accepted',
  selector: { matchAll: true },
  ...more,
})

export const allTaken = (claims: readonly Claim[], more: object = {}) => claims.map(each => taken(each, more))

export interface Exported {
  readonly claims?: readonly Claim[]
  /** Consumers need a permission from the provider's policy. */
  readonly isGuarded?: boolean
}

export async function exportKind(
  { kubectl }: Tenant,
  crd: KubeObject,
  { claims = [], isGuarded = false }: Exported = {},
): Promise<string> {
  const { group, names } = crd.spec as { group: string; names: { plural: string } }
  const schema = apiResourceSchemaOf(crd, 'today')
  await apply(kubectl, schema, {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name: group },
    spec: {
      resources: [{ group, name: names.plural, schema: schema.metadata.name, storage: { crd: {} } }],
      permissionClaims: claims,
      ...(isGuarded && { maximalPermissionPolicy: { local: {} } }),
    },
  } as KubeObject)
  await kubectl(['wait', '--for=condition=IdentityValid', '--timeout=60s', `apiexport/${group}`])
  return group
}

export const identityOf = ({ kubectl }: Tenant, name: string) =>
  kubectl(['get', 'apiexport', name, '-o', 'jsonpath={.status.identityHash}'])

export const bindAs = async (
  consumer: Tenant,
  provider: Tenant,
  name: string,
  claims: readonly object[] = [],
) => {
  await apply(consumer.kubectl, bindingOf(provider, name, claims))
  await consumer.kubectl(['wait', '--for=condition=Ready', '--timeout=60s', `apibinding/${name}`])
}

/** The view of an export, in one logical cluster or, without a tenant, in all. */
export async function viewOf(provider: Tenant, name: string) {
  const { pathname } = new URL(await publishedUrl(provider, name))
  return (tenant?: Tenant) => `${pathname}/clusters/${tenant?.cluster ?? '*'}`
}

/** Retries until the view has applied the change. */
export const answers = (ask: () => Promise<Told>, status: number): Promise<Told> =>
  eventually(ask, told => told.status === status)

/** Gives a user permission to use the exports of a provider's workspace. */
export const contentFor = (user: string, { kubectl }: Tenant, verbs: readonly string[] = ['*']) =>
  apply(
    kubectl,
    clusterRole('content', { verbs, apiGroups: ['apis.kcp.io'], resources: ['apiexports/content'] }),
    bound('content', user),
    bound('system:kcp:workspace:access', user),
  )
