import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import * as client from '@kubernetes/client-node'
import { itemOf } from '../../framework/contract/item.ts'
import type { TableColumn } from '../../framework/contract/schema.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { columnDefinitions, rowBytes } from '../../framework/responses/table.ts'
import { columnsOf } from '../columns.ts'
import type { KindDefinition } from './definition.ts'
import { anyQuantity } from './fragments.ts'
import { eventSource } from './kubernetes/events.ts'
import { builtinKinds, reviewKinds } from './kubernetes/index.ts'
import { tokenRequestSchema } from './kubernetes/reviews.ts'

interface Attribute {
  readonly baseName: string
  readonly type: string
  readonly format: string
}
interface Model {
  readonly attributeTypeMap: readonly Attribute[]
}
const models = client as unknown as Readonly<Record<string, Model>>

// The published client is older than these.
const beta = new Set(['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'])
const newer = new Set([
  'CustomResourceDefinition.status.observedGeneration',
  'CustomResourceDefinition.status.conditions[].observedGeneration',
])
const eventModels: Readonly<Record<string, string>> = { '': 'CoreV1Event', 'events.k8s.io': 'EventsV1Event' }

function modelName({ group, names }: KindDefinition): string {
  if (names.kind === 'Event') return eventModels[group] ?? ''
  return `${beta.has(names.kind) ? 'V1beta1' : 'V1'}${names.kind}`
}

const scalars: Readonly<Record<string, (schema: JSONSchemaProps, format: string) => boolean>> = {
  string: (s, format) =>
    isDeepStrictEqual(s, anyQuantity) ||
    s['x-kubernetes-int-or-string'] === true ||
    (s.type === 'string' && (s.format ?? '') === format),
  boolean: s => s.type === 'boolean',
  number: (s, format) => s.type === 'integer' && s.format === format,
  Date: s => s.type === 'string' && s.format === 'date-time',
  V1MicroTime: s => s.type === 'string' && s.format === 'date-time',
  any: s => s['x-kubernetes-preserve-unknown-fields'] === true,
}

/** Paths at which a schema and the model of the typed client differ. */
function differences(
  schema: JSONSchemaProps | undefined,
  attribute: Attribute,
  at: string,
): readonly string[] {
  if (schema === undefined) return [`${at}: missing`]
  const { type, format } = attribute
  const inner = /^Array<(.*)>$/.exec(type) ?? /^\{ \[key: string\]: (.*); \}$/.exec(type)
  if (inner !== null) {
    const values = schema.items ?? schema.additionalProperties
    const of = typeof values === 'object' ? values : undefined
    // The client gives the format of the whole list or map, not of its values: compare the type only.
    const valueFormat = of?.format ?? ''
    return differences(of, { ...attribute, type: inner[1] ?? '', format: valueFormat }, `${at}[]`)
  }
  const isScalar = scalars[type]
  if (isScalar !== undefined)
    return isScalar(schema, format) ? [] : [`${at}: ${type} ${format} is ${schema.type} ${schema.format}`]
  return modelDifferences(schema, type, at)
}

function modelDifferences(schema: JSONSchemaProps, model: string, at: string): readonly string[] {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || model === 'V1ObjectMeta') return []
  const attributes = models[model]?.attributeTypeMap ?? []
  const known = new Set(attributes.map(a => a.baseName))
  const ours = Object.keys(schema.properties ?? {})
  const extra = ours.filter(field => !known.has(field) && !newer.has(`${at}.${field}`))
  return [
    ...extra.map(field => `${at}.${field}: unknown to the client`),
    ...attributes.flatMap(a => differences(schema.properties?.[a.baseName], a, `${at}.${a.baseName}`)),
  ]
}

const cells = (kind: KindDefinition, object: KubeObject): Readonly<Record<string, unknown>> => {
  const now = new Date('2026-01-01T00:10:00Z')
  const columns = kind.versions[0]?.columns ?? []
  return Object.fromEntries(columns.flatMap(c => ('cell' in c ? [[c.name, c.cell(object, now)]] : [])))
}
const kindNamed = (group: string, plural: string): KindDefinition => {
  const found = builtinKinds.find(kind => kind.group === group && kind.names.plural === plural)
  assert.ok(found, `${plural}.${group}`)
  return found
}

describe('built-in kinds', () => {
  for (const kind of builtinKinds) {
    it(`${kind.names.plural} of "${kind.group}" have the fields of the typed client`, () => {
      const schema = kind.versions[0]?.schema ?? {}
      assert.ok(models[modelName(kind)], `${modelName(kind)} is no model`)
      assert.deepEqual(modelDifferences(schema, modelName(kind), kind.names.kind), [])
    })
  }

  it('have token requests with the fields of the typed client', () => {
    assert.deepEqual(modelDifferences(tokenRequestSchema, 'AuthenticationV1TokenRequest', 'TokenRequest'), [])
  })

  it('are listed once', () => {
    const ids = builtinKinds.map(kind => `${kind.names.plural}.${kind.group}`)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(reviewKinds.length, 6)
  })
})

describe('columns of built-in kinds', () => {
  const object = (fields: Readonly<Record<string, unknown>>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'x' },
    ...fields,
  })

  it('count the data of config maps and secrets', () => {
    assert.deepEqual(cells(kindNamed('', 'configmaps'), object({ data: { a: '' }, binaryData: { b: '' } })), {
      Data: 2,
    })
    assert.deepEqual(cells(kindNamed('', 'secrets'), object({})), { Data: 0 })
  })

  it('show no holder of a lease as an empty text', () => {
    assert.deepEqual(cells(kindNamed('coordination.k8s.io', 'leases'), object({ spec: {} })), { Holder: '' })
  })

  it('are those of Kubernetes', () => {
    const event = itemOf(object({ metadata: { name: 'e' }, type: 'Normal' }), 'c')
    const of = (kind: KindDefinition) => {
      const columns = columnsOf(kind.versions[0]?.columns)
      const form = { version: 'v1', columns, include: 'None' } as const
      const defined = JSON.parse(`{${columnDefinitions(form)}}`).columnDefinitions as TableColumn[]
      const { cells } = JSON.parse(rowBytes(event, form, new Date()).toString()) as { cells: unknown[] }
      return defined.map(({ name, priority }, i) => (priority === 0 ? name : [name, cells[i]]))
    }
    const events = of(kindNamed('', 'events'))
    assert.deepEqual(events.slice(0, 4), ['Last Seen', 'Type', 'Reason', 'Object'])
    assert.deepEqual(events.at(-1), ['Name', 'e'])
    assert.deepEqual(of(kindNamed('', 'serviceaccounts')), ['Name', 'Age'])
  })

  it('show core events as kubectl does', () => {
    const event = object({
      involvedObject: { kind: 'Widget', name: 'w', fieldPath: 'spec' },
      type: 'Normal',
      reason: 'Made',
      message: 'it is there\n',
      source: { component: 'maker', host: 'h' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:09:00Z',
      count: 3,
    })
    assert.deepEqual(cells(kindNamed('', 'events'), event), {
      'Last Seen': '60s',
      Type: 'Normal',
      Reason: 'Made',
      Object: 'widget/w',
      Subobject: 'spec',
      Source: 'maker, h',
      Message: 'it is there',
      'First Seen': '10m',
      Count: 3,
      Name: 'x',
    })
    assert.equal(eventSource(event), 'maker')
  })

  it('show a series of events.k8s.io events', () => {
    const event = object({
      regarding: { kind: 'Widget', name: 'w' },
      note: 'again',
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'maker',
      reportingInstance: 'maker-0',
      series: { count: 7, lastObservedTime: '2026-01-01T00:09:30.000000Z' },
    })
    const shown = cells(kindNamed('events.k8s.io', 'events'), event)
    assert.deepEqual(
      [shown['Last Seen'], shown['First Seen'], shown.Count, shown.Source, shown.Message],
      ['30s', '10m', 7, 'maker, maker-0', 'again'],
    )
  })

  it('list the subjects of a binding', () => {
    const binding = object({
      roleRef: { kind: 'ClusterRole', name: 'admin' },
      subjects: [
        { kind: 'User', name: 'ann' },
        { kind: 'User', name: 'bob' },
        { kind: 'ServiceAccount', name: 'sa', namespace: 'ns' },
      ],
    })
    assert.deepEqual(cells(kindNamed('rbac.authorization.k8s.io', 'rolebindings'), binding), {
      Role: 'ClusterRole/admin',
      Users: 'ann, bob',
      Groups: '',
      ServiceAccounts: 'ns/sa',
    })
  })

  it('show the condition of a signing request', () => {
    const request = object({
      spec: { signerName: 's/x', username: 'ann', expirationSeconds: 86_400 },
      status: { conditions: [{ type: 'Approved' }], certificate: 'YQ==' },
    })
    assert.deepEqual(cells(kindNamed('certificates.k8s.io', 'certificatesigningrequests'), request), {
      SignerName: 's/x',
      Requestor: 'ann',
      RequestedDuration: '24h',
      Condition: 'Approved,Issued',
    })
  })

  it('show the use of a quota, limits apart', () => {
    const quota = object({
      status: { hard: { pods: '4', 'limits.cpu': '2' }, used: { pods: '1', 'limits.cpu': '1' } },
    })
    assert.deepEqual(cells(kindNamed('', 'resourcequotas'), quota), {
      Request: 'pods: 1/4',
      Limit: 'limits.cpu: 1/2',
    })
  })

  it('show the parameters of policies and bindings', () => {
    const group = 'admissionregistration.k8s.io'
    const policy = object({ spec: { validations: [{}], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } })
    assert.deepEqual(cells(kindNamed(group, 'validatingadmissionpolicies'), policy), {
      Validations: 1,
      ParamKind: 'v1/ConfigMap',
    })
    const binding = object({ spec: { paramRef: { namespace: 'ns', selector: {} } } })
    assert.deepEqual(cells(kindNamed(group, 'mutatingadmissionpolicybindings'), binding), {
      ParamRef: 'ns/*',
    })
  })
})
