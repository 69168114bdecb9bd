import { mixedText } from '../../framework/testing/mixedtext.ts'
import type { Request } from '../tools/connection.ts'

/** A request that asks for much work, sent again and again on some connections. */
export interface Heavy {
  readonly id: string
  readonly what: string
  /** Requests that come first, once. */
  readonly before?: readonly Request[]
  readonly request: Request
  readonly connections: number
}

/** The workspace of the attacker. */
export const lair = '/clusters/root:attacker'
export const configMaps = `${lair}/api/v1/namespaces/default/configmaps`
const definitions = `${lair}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
export const admission = `${lair}/apis/admissionregistration.k8s.io/v1`
const group = 'attacks.example.com'

export const times = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const members = <T>(count: number, value: T): Readonly<Record<string, T>> =>
  Object.fromEntries(times(count, i => [`k${i}`, value]))

export const post = (path: string, body: object): Request => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
})
export const dryRun = (path: string, body: object): Request => post(`${path}?dryRun=All`, body)

export const configMap = (name: string, data: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function definition(plural: string, spec: object, more: object = {}): object {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const names = {
    plural,
    singular: plural.slice(0, -1),
    kind: `Kind${plural}`,
    listKind: `Kind${plural}List`,
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema, ...more }],
    },
  }
}

const collection = (plural: string): string => `${lair}/apis/${group}/v1/${plural}`
const custom = (plural: string, spec: object): object => ({
  apiVersion: `${group}/v1`,
  kind: `Kind${plural}`,
  metadata: { name: 'a' },
  spec,
})

/** To compare with: ordinary requests, as many as the server answers. */
const plain: Heavy = {
  id: 'plain',
  what: 'reads one object on 8 connections',
  before: [post(configMaps, configMap('plain', {}))],
  request: { path: `${configMaps}/plain` },
  connections: 8,
}

const defaults: Heavy = {
  id: 'defaults',
  what: 'creates objects with defaults of 20,000 keys for each of 800 items',
  before: [
    post(
      definitions,
      definition('bombs', {
        type: 'object',
        properties: {
          l: {
            type: 'array',
            items: { type: 'object', properties: { m: { ...any, default: members(20_000, '') } } },
          },
        },
      }),
    ),
  ],
  request: dryRun(collection('bombs'), custom('bombs', { l: times(800, () => ({})) })),
  connections: 4,
}

const yaml: Heavy = {
  id: 'yaml',
  what: 'sends YAML of 2.8 MB',
  request: {
    method: 'POST',
    path: configMaps,
    contentType: 'application/yaml',
    body: `a: [${'1,'.repeat(1_400_000)}1]`,
  },
  connections: 4,
}

const values: Heavy = {
  id: 'values',
  what: 'sends JSON of 190,000 values',
  request: dryRun(configMaps, {
    ...configMap('values', {}),
    binaryData: { list: times(190_000, () => ({})) },
  }),
  connections: 4,
}

const selector: Heavy = {
  id: 'selector',
  what: 'lists with selectors of 1,500 terms',
  before: times(2_000, i => post(configMaps, configMap(`s${i}`, {}))),
  request: { path: `${configMaps}?labelSelector=${encodeURIComponent(times(1_500, i => `!k${i}`).join())}` },
  connections: 32,
}

const map: Heavy = {
  id: 'map',
  what: 'creates objects with 45,000 keys',
  request: dryRun(configMaps, configMap('map', members(45_000, ''))),
  connections: 8,
}

const apply: Heavy = {
  id: 'apply',
  what: 'applies objects with 45,000 keys',
  request: {
    method: 'PATCH',
    path: `${configMaps}/applied?fieldManager=a&force=true&dryRun=All`,
    contentType: 'application/apply-patch+yaml',
    body: JSON.stringify(configMap('applied', members(45_000, ''))),
  },
  connections: 4,
}

const patch: Heavy = {
  id: 'json-patch',
  what: 'sends JSON patches of 5,000 copies',
  before: [post(configMaps, configMap('patched', members(5_000, '')))],
  request: {
    method: 'PATCH',
    path: `${configMaps}/patched?dryRun=All`,
    contentType: 'application/json-patch+json',
    body: JSON.stringify(times(5_000, i => ({ op: 'copy', from: '/data', path: `/metadata/x${i}` }))),
  },
  connections: 4,
}

const properties: Heavy = {
  id: 'properties',
  what: 'creates definitions with 30,000 properties',
  request: dryRun(
    definitions,
    definition('wides', { type: 'object', properties: members(30_000, { type: 'string' }) }),
  ),
  connections: 4,
}

const pattern: Heavy = {
  id: 'pattern',
  what: 'creates objects with 24 texts of 10 kB for a pattern of 100 repetitions',
  before: [
    post(
      definitions,
      definition('patterns', {
        type: 'object',
        properties: { l: { type: 'array', items: { type: 'string', pattern: 'a[ab]{100}[cd]' } } },
      }),
    ),
  ],
  request: dryRun(collection('patterns'), custom('patterns', { l: times(24, i => mixedText(10_000, i)) })),
  connections: 4,
}

const rules: Heavy = {
  id: 'rules',
  what: 'creates definitions with 2,000 CEL rules',
  request: dryRun(
    definitions,
    definition('ruleds', {
      type: 'object',
      properties: { n: { type: 'integer' } },
      'x-kubernetes-validations': times(2_000, i => ({ rule: `self.n != ${i}` })),
    }),
  ),
  connections: 4,
}

const policy: Heavy = {
  id: 'policy',
  what: 'creates admission policies of 500 expressions',
  request: dryRun(`${admission}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'policy' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
        ],
      },
      validations: times(500, i => ({ expression: `object.metadata.name != 'n${i}'` })),
    },
  }),
  connections: 4,
}

const table: Heavy = {
  id: 'table',
  what: 'reads tables of 2,000 columns, each with the whole object',
  before: [
    post(
      definitions,
      definition('columns', any, {
        additionalPrinterColumns: times(2_000, i => ({ name: `c${i}`, type: 'string', jsonPath: '.spec' })),
      }),
    ),
    post(collection('columns'), custom('columns', members(1_000, 'x'.repeat(100)))),
  ],
  request: {
    path: collection('columns'),
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  },
  connections: 4,
}

const expression: Heavy = {
  id: 'query',
  what: 'queries with an expression that compares all keys of 45,000',
  before: [post(configMaps, configMap('queried', members(45_000, '')))],
  request: {
    path: `/services/query/clusters/*/api/v1/configmaps?where=${encodeURIComponent(
      'has(object.data) && object.data.map(k, k).distinct().size() > 1',
    )}`,
  },
  connections: 4,
}

const watches: Heavy = {
  id: 'watches',
  what: 'opens watches with 2,000 initial events on 64 connections',
  request: {
    path: `${configMaps}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`,
  },
  connections: 64,
}

const large: Heavy = {
  id: 'large',
  what: 'stores objects of 1 MB until it is refused',
  request: post(configMaps, configMap('large-%d', { text: 'x'.repeat(1_000_000) })),
  connections: 2,
}

const apis = 'apis.kcp.io/v1alpha2'

const bindings: Heavy = {
  id: 'bindings',
  what: 'creates bindings in a workspace with 200 definitions',
  before: [
    post(`${lair}/apis/${apis}/apiexports`, {
      apiVersion: apis,
      kind: 'APIExport',
      metadata: { name: 'export' },
    }),
    ...times(200, i => post(definitions, definition(`beside${i}s`, any))),
  ],
  request: post(`${lair}/apis/${apis}/apibindings`, {
    apiVersion: apis,
    kind: 'APIBinding',
    metadata: { generateName: 'binding-' },
    spec: { reference: { export: { name: 'export' } } },
  }),
  connections: 4,
}

/** In the order in which they are sent: `watches` shows what `selector` has stored. */
export const heavyRequests: readonly Heavy[] = [
  ...[plain, defaults, yaml, values, selector, watches, map, apply, patch],
  ...[properties, pattern, rules, policy, table, expression, bindings, large],
]
