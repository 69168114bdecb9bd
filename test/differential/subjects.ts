import type { KubeObject } from '../../framework/index.ts'
import type { Random } from '../model/random.ts'
import { foreignCrds } from '../support/crds.ts'
import { minimalObject } from '../support/minimal.ts'
import { namespace, type Subject } from './step.ts'
import { anyValue, type Schema } from './values.ts'

const names = [
  'certificates.cert-manager.io',
  'issuers.cert-manager.io',
  'gatewayclasses.gateway.networking.k8s.io',
  'httproutes.gateway.networking.k8s.io',
  'referencegrants.gateway.networking.k8s.io',
  'podmonitors.monitoring.coreos.com',
  'prometheusrules.monitoring.coreos.com',
  'prometheuses.monitoring.coreos.com',
]

/** The CustomResourceDefinitions of the corpus: large and small, with and without rules, of both scopes. */
export function definitions(): readonly KubeObject[] {
  const found = new Map(foreignCrds().map(crd => [crd.metadata.name, crd]))
  return names.map(name => {
    const crd = found.get(name)
    if (crd === undefined) throw new Error(`no CustomResourceDefinition ${name} in the folder FOREIGN_CRDS`)
    return crd
  })
}

interface CrdSpec {
  readonly group: string
  readonly scope: string
  readonly names: { readonly kind: string; readonly plural: string }
  readonly versions: readonly {
    readonly name: string
    readonly storage: boolean
    readonly subresources?: { readonly status?: object }
    readonly schema: { readonly openAPIV3Schema: Schema }
  }[]
}

function customSubject(crd: KubeObject, random: Random): Subject {
  const { group, scope, names, versions } = crd.spec as CrdSpec
  const version = versions.find(each => each.storage) ?? versions[0]
  if (version === undefined) throw new Error(`${crd.metadata.name} has no version`)
  const { properties = {} } = version.schema.openAPIV3Schema
  const namespaced = scope === 'Namespaced'
  const base = `/apis/${group}/${version.name}`
  return {
    kind: names.kind,
    apiVersion: `${group}/${version.name}`,
    collection: `${base}${namespaced ? `/namespaces/${namespace}` : ''}/${names.plural}`,
    namespaced,
    isCustom: true,
    hasStatus: version.subresources?.status !== undefined,
    accepted: () => ({ spec: minimalObject(crd, version.name, 'any').spec }),
    random: () => ({ spec: anyValue(properties.spec ?? {}, random) }),
  }
}

const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } }
const configMap: Schema = {
  type: 'object',
  properties: { data: texts, binaryData: texts, immutable: { type: 'boolean' } },
}
const rule: Schema = {
  type: 'object',
  required: ['verbs'],
  properties: Object.fromEntries(
    ['verbs', 'apiGroups', 'resources', 'resourceNames'].map(field => [
      field,
      { type: 'array', items: { type: 'string', enum: ['get', 'list', 'widgets', 'example.com', '*'] } },
    ]),
  ),
}
const role: Schema = { type: 'object', properties: { rules: { type: 'array', items: rule } } }

function builtIn(kind: string, apiVersion: string, plural: string, schema: Schema, random: Random): Subject {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return {
    kind,
    apiVersion,
    collection: `${base}/namespaces/${namespace}/${plural}`,
    namespaced: true,
    isCustom: false,
    hasStatus: false,
    accepted: () => ({}),
    random: () => anyValue({ ...schema }, random) as Readonly<Record<string, unknown>>,
  }
}

const text: Schema = { type: 'string' }
const secret: Schema = { type: 'object', properties: { data: texts, stringData: texts, type: text } }
const references: Schema = { type: 'array', items: { type: 'object', properties: { name: text } } }
const serviceAccount: Schema = {
  type: 'object',
  properties: {
    imagePullSecrets: references,
    automountServiceAccountToken: { type: 'boolean' },
  },
}
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' }
const roleBinding: Schema = {
  type: 'object',
  required: ['roleRef'],
  properties: {
    roleRef: {
      type: 'object',
      required: ['apiGroup', 'kind', 'name'],
      properties: {
        apiGroup: { type: 'string', enum: [roleRef.apiGroup] },
        kind: { type: 'string', enum: ['Role', 'ClusterRole', 'Other'] },
        name: { type: 'string', enum: ['a'] },
      },
    },
    subjects: {
      type: 'array',
      items: {
        type: 'object',
        required: ['kind', 'name'],
        properties: {
          kind: { type: 'string', enum: ['User', 'Group', 'ServiceAccount'] },
          name: { type: 'string', enum: ['a', 'b'] },
          namespace: { type: 'string', enum: ['default'] },
          apiGroup: { type: 'string', enum: [roleRef.apiGroup] },
        },
      },
    },
  },
}
const lease: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        holderIdentity: text,
        leaseDurationSeconds: { type: 'integer' },
        leaseTransitions: { type: 'integer' },
        acquireTime: { type: 'string', enum: ['2026-11-21T10:00:00.000000Z', 'yesterday'] },
      },
    },
  },
}

/** The resources of the corpus: the definitions, and built-in kinds. */
export const subjects = (random: Random): readonly Subject[] => [
  ...definitions().map(crd => customSubject(crd, random)),
  builtIn('ConfigMap', 'v1', 'configmaps', configMap, random),
  builtIn('Role', 'rbac.authorization.k8s.io/v1', 'roles', role, random),
  builtIn('Secret', 'v1', 'secrets', secret, random),
  builtIn('ServiceAccount', 'v1', 'serviceaccounts', serviceAccount, random),
  {
    ...builtIn('RoleBinding', 'rbac.authorization.k8s.io/v1', 'rolebindings', roleBinding, random),
    accepted: () => ({ roleRef }),
  },
  builtIn('Lease', 'coordination.k8s.io/v1', 'leases', lease, random),
]
