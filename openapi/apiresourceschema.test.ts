import assert from 'node:assert/strict'
import { atOnce } from '../framework/json/json.ts'
import { type FieldError, fieldErrorBody } from '../framework/meta/errors.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { validateAPIResourceSchema } from './apiresourceschema.ts'

const text = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`

const v1 = { name: 'v1', served: true, storage: true, schema: { type: 'object' } }
const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
const schemaOf = (spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: 'today.widgets.example.com', ...metadata },
  spec: { group: 'example.com', names, scope: 'Namespaced', versions: [v1], ...spec },
})
const errorsOf = (spec: object, metadata: object = {}): readonly string[] =>
  atOnce(validateAPIResourceSchema(schemaOf(spec, metadata))).map(text)

describe('APIResourceSchemas', () => {
  it('are accepted with any prefix, and in the core group', () => {
    assert.deepEqual(errorsOf({}), [])
    assert.deepEqual(errorsOf({}, { name: 'v240101-abcdef.widgets.example.com' }), [])
    assert.deepEqual(errorsOf({ group: '' }, { name: 'v1.widgets.core' }), [])
    assert.deepEqual(errorsOf({ group: 'apps' }, { name: 'v1.widgets.apps' }), [])
  })

  const cases: readonly (readonly [spec: object, metadata: object, ...texts: readonly string[]])[] = [
    [{}, { name: 'widgets' }, 'metadata.name: Invalid value: "widgets": must end in .widgets.example.com'],
    [
      {},
      { name: 'a.b.widgets.example.com' },
      'metadata.name: Invalid value: "a.b.widgets.example.com": must match ^[a-z]([-a-z0-9]*[a-z0-9])?$ in front of .widgets.example.com',
    ],
    [
      { group: 'core' },
      { name: 'v1.widgets.core' },
      'spec.group: Invalid value: "core": must be empty string for the core group',
    ],
    [
      { group: 'plain' },
      { name: 'v1.widgets.plain' },
      'spec.group: Invalid value: "plain": should be a domain with at least one dot',
    ],
    [{ versions: [{ ...v1, schema: undefined }] }, {}, 'spec.versions[0].schema: Required value'],
    [
      { versions: [{ ...v1, schema: { type: 'object', properties: { a: {} } } }] },
      {},
      'spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    ],
    [
      { versions: [v1, v1] },
      {},
      'spec.versions: Invalid value: ["v1","v1"]: must contain unique version names',
      'spec.versions: Invalid value: ["v1","v1"]: must have exactly one version marked as storage version',
    ],
    [
      { versions: [{ ...v1, deprecationWarning: 'x' }] },
      {},
      'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
    ],
    [
      { names: { plural: 'widgets', kind: 'Widget' } },
      {},
      'spec.names.singular: Required value',
      'spec.names.listKind: Required value',
    ],
    [
      { group: 'a.kubernetes.io' },
      { name: 'v1.widgets.a.kubernetes.io' },
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ]
  for (const [spec, metadata, ...expected] of cases)
    it(expected[0] ?? '', () => assert.deepEqual(errorsOf(spec, metadata), expected))

  it('never change their spec', () => {
    assert.deepEqual(atOnce(validateAPIResourceSchema(schemaOf({}, { labels: { a: 'b' } }), schemaOf())), [])
    const [error, ...others] = atOnce(validateAPIResourceSchema(schemaOf({ scope: 'Cluster' }), schemaOf()))
    assert.deepEqual(others, [])
    assert.deepEqual(
      [error?.type, error?.field, error?.detail],
      ['FieldValueInvalid', 'spec', 'is immutable'],
    )
  })
})
