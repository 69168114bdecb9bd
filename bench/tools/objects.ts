import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

const group = 'bench.oriel.dev'

export const widgetsRef = (identity: string): ResourceRef => ({
  group,
  version: 'v1',
  resource: 'widgets',
  identity,
})

/** The path of widgets below a logical cluster. */
export const widgetsPath = `/apis/${group}/v1/widgets`
export const widgetsIn = (namespace: string): string => `/apis/${group}/v1/namespaces/${namespace}/widgets`

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const object = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})

const spec = object(
  {
    secretName: { type: 'string', minLength: 1 },
    commonName: text,
    dnsNames: texts,
    ipAddresses: texts,
    usages: {
      type: 'array',
      items: { type: 'string', enum: ['digital signature', 'server auth', 'client auth'] },
    },
    duration: { type: 'string', default: '2160h' },
    renewBefore: text,
    issuerRef: object({ name: text, kind: text, group: text }, ['name']),
    privateKey: object({ algorithm: text, size: { type: 'integer', minimum: 0 }, rotationPolicy: text }),
    replicas: { type: 'integer', minimum: 0, default: 1 },
    sentAt: { type: 'number' },
  },
  ['secretName', 'issuerRef'],
)

const condition = object(
  {
    type: text,
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: text,
    message: text,
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer' },
  },
  ['type', 'status'],
)

export const schema: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: `v1.widgets.${group}` },
  spec: {
    group,
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: object({
          spec,
          report: object({ revision: { type: 'integer' }, conditions: { type: 'array', items: condition } }),
        }),
      },
    ],
  },
}

export const exportName = 'widgets'

export const exported: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: exportName },
  spec: { resources: [{ name: 'widgets', group, schema: schema.metadata.name, storage: { crd: {} } }] },
}

export const bindingTo = (path: string): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: exportName },
  spec: { reference: { export: { path, name: exportName } } },
})

export const workspace = (name: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: {},
})

const conditionOf = (type: string, message: string): object => ({
  type,
  status: 'True',
  reason: `${type}Checked`,
  message,
  lastTransitionTime: '2026-11-21T08:00:00Z',
  observedGeneration: 1,
})

/** An object of about 1 KiB when stored, with as many fields as usual for that size. */
export const widget = (name: string): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name, namespace: 'default', labels: { app: 'bench', tier: 'backend' } },
  spec: {
    secretName: `${name}-tls`,
    commonName: `${name}.example.com`,
    dnsNames: [`${name}.example.com`, `www.${name}.example.com`],
    usages: ['digital signature', 'server auth'],
    duration: '2160h',
    renewBefore: '360h',
    issuerRef: { name: 'letsencrypt', kind: 'ClusterIssuer' },
    privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    replicas: 3,
  },
  report: {
    revision: 1,
    conditions: [
      conditionOf('Ready', 'It is up to date and has not expired'),
      conditionOf('Issued', 'Fetched from the issuer'),
    ],
  },
})
