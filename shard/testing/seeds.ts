import type { KubeObject } from '../../framework/meta/object.ts'

const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'a' }
const subjects = [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }]
const schema = { type: 'object', properties: { spec: { type: 'object' } } }
const names = (plural: string) => ({ plural, singular: 'widget', kind: 'Widget', listKind: 'WidgetList' })
const hook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://example.com' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [{ apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] }],
}
const constraints = {
  resourceRules: [{ apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] }],
}
const exportRef = { path: 'root', name: 'e' }
const claim = { group: '', resource: 'configmaps', verbs: ['get'], all: true }

const groupEvent = {
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'example.com/a',
  reportingInstance: 'a',
  action: 'a',
  reason: 'a',
  type: 'Normal',
  regarding: { kind: 'ConfigMap', name: 'a', namespace: 'default' },
}

const request = Buffer.from(
  `${[
    '-----BEGIN CERTIFICATE REQUEST-----',
    'MIHIMHACAQAwDjEMMAoGA1UEAwwDam9lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD',
    'QgAEWZYJ3ldqKyXjQB8vMOhK7/MCP9GjydyXhLLEk25CC1xQ6PO4F3zUQoF6A9sH',
    'krGXg+U2ETM4eg59S9Q1Gj7w5aAAMAoGCCqGSM49BAMCA0gAMEUCIBfhjHlBr5fL',
    'E80DVoe4hxjVClF3KTbExcJbnNVeRVvdAiEA3NRx1iUjP+Npb0wQ2/yCP+JpZU55',
    'JVcm3bMFvYPgfxw=',
    '-----END CERTIFICATE REQUEST-----',
  ].join('\n')}\n`,
).toString('base64')

type Seed = (name: string) => object

const policies: Readonly<Record<string, Seed>> = {
  mutatingadmissionpolicies: () => ({
    spec: {
      matchConstraints: constraints,
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  }),
  mutatingadmissionpolicybindings: () => ({ spec: { policyName: 'a' } }),
  mutatingwebhookconfigurations: () => ({ webhooks: [hook] }),
  validatingadmissionpolicies: () => ({
    spec: { matchConstraints: constraints, validations: [{ expression: 'true' }] },
  }),
  validatingadmissionpolicybindings: () => ({ spec: { policyName: 'a', validationActions: ['Deny'] } }),
  validatingwebhookconfigurations: () => ({ webhooks: [hook] }),
}

const kubernetes: Readonly<Record<string, Seed>> = {
  ...policies,
  configmaps: () => ({ data: { a: 'b' }, binaryData: { c: 'AAAA' } }),
  events: () => ({ involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'default' }, reason: 'a' }),
  namespaces: () => ({}),
  resourcequotas: () => ({ spec: { hard: { 'count/widgets.example.com': '5' } } }),
  secrets: () => ({ data: { a: 'AAAA' }, type: 'Opaque' }),
  serviceaccounts: () => ({ automountServiceAccountToken: true }),
  customresourcedefinitions: name => ({
    spec: {
      group: 'example.com',
      names: {
        ...names(name.split('.')[0] ?? ''),
        kind: `K${name.split('.')[0]}`,
        listKind: `L${name.split('.')[0]}`,
      },
      scope: 'Cluster',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }),
  certificatesigningrequests: () => ({
    spec: { request, signerName: 'example.com/a', usages: ['client auth'] },
  }),
  leases: () => ({ spec: { holderIdentity: 'a', leaseDurationSeconds: 3 } }),
  clusterroles: () => ({ rules: [rule] }),
  roles: () => ({ rules: [rule] }),
  clusterrolebindings: () => ({ roleRef, subjects }),
  rolebindings: () => ({ roleRef, subjects }),
}

const apis: Readonly<Record<string, Seed>> = {
  apibindings: () => ({ spec: { reference: { export: exportRef } } }),
  apiexports: () => ({ spec: { permissionClaims: [claim] } }),
  apiconversions: () => ({ spec: { conversions: [{ from: 'v1', to: 'v2', rules: [] }] } }),
  apiexportendpointslices: () => ({ spec: { export: exportRef } }),
  apiresourceschemas: () => ({
    spec: {
      group: 'example.com',
      names: names('widgets'),
      scope: 'Cluster',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }),
  clustercachedresources: () => ({ spec: { group: 'example.com', version: 'v1', resource: 'widgets' } }),
  clustercachedresourceendpointslices: () => ({
    spec: { clusterCachedResource: { name: 'a' }, export: exportRef },
  }),
  views: () => ({
    spec: {
      source: { apiExport: 'widgets' },
      resources: [
        {
          group: 'example.com',
          resource: 'widgets',
          verbs: ['get'],
          where: 'true',
          hide: ['spec.token'],
          annotate: { a: 'cluster.path' },
        },
      ],
      columns: [{ name: 'Color', jsonPath: '.spec.color' }],
    },
  }),
}

const tree: Readonly<Record<string, Seed>> = {
  logicalclusters: () => ({ spec: { initializers: ['root:team'] } }),
  shards: () => ({ spec: { baseURL: 'https://a.example.com' } }),
  workspaceauthenticationconfigurations: () => ({
    spec: {
      jwt: [
        {
          issuer: { url: 'https://a.example.com', audiences: ['a'] },
          claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } },
        },
      ],
    },
  }),
  workspaces: () => ({ spec: { type: { name: 'universal', path: 'root' } } }),
  workspacetypes: () => ({ spec: { defaultAPIBindings: [exportRefOf('e')] } }),
  partitions: () => ({ spec: { selector: { matchLabels: { a: 'b' } } } }),
  partitionsets: () => ({ spec: { dimensions: ['region'], shardSelector: { matchLabels: { a: 'b' } } } }),
  kubeclusters: () => ({ spec: { secretRef: { name: 'a' } } }),
}

const exportRefOf = (name: string): object => ({ path: 'root', export: name })

const seeds: Readonly<Record<string, Seed>> = { ...kubernetes, ...apis, ...tree }

const prefixes: Readonly<Record<string, (name: string) => string>> = {
  customresourcedefinitions: name => `${name}.example.com`,
  apiresourceschemas: name => `${name}.widgets.example.com`,
  logicalclusters: () => 'cluster',
}

/** A valid object of a kind that every workspace serves, by plural; undefined for other kinds. */
export function seedOf(
  plural: string,
  apiVersion: string,
  kind: string,
  name: string,
): KubeObject | undefined {
  const full = prefixes[plural]?.(name) ?? name
  const content = apiVersion === 'events.k8s.io/v1' ? groupEvent : seeds[plural]?.(full)
  const own = content && JSON.parse(JSON.stringify(content))
  return own && { apiVersion, kind, metadata: { name: full }, ...own }
}
