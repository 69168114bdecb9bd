import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { errorsOf } from './testing/errors.ts'

const embedded: JSONSchemaProps = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}

describe('embedded resources', () => {
  it('have a type, a name and labels that Kubernetes takes', () => {
    assert.deepEqual(errorsOf(embedded, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'A_b' } }), [])
    assert.deepEqual(errorsOf(embedded, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'X Y' } }), [
      "spec.a.metadata.namespace: Invalid value: \"X Y\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ])
    assert.deepEqual(
      errorsOf(embedded, { apiVersion: 'a/b/c', metadata: { name: 'a/b', labels: { 'a b': '' } } }),
      [
        'spec.a.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        'spec.a.kind: Required value',
        'spec.a.metadata.name: Invalid value: "a/b": may not contain \'/\'',
        "spec.a.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    )
  })

  it('have owners and finalizers that Kubernetes takes', () => {
    const owner = { apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u', controller: true }
    const metadata = {
      ownerReferences: [owner, { apiVersion: 'a/', kind: 'K', name: '', uid: 'u', controller: true }],
      finalizers: ['a.b/c', 'x y'],
      generateName: 'a/b',
    }
    const errors = errorsOf(embedded, { apiVersion: 'v1', kind: 'Pod', metadata })
    const path = 'spec.a.metadata'
    assert.deepEqual(
      errors.map(text => text.split(': ')[0]),
      [
        `${path}.generateName`,
        `${path}.ownerReferences`,
        `${path}.ownerReferences.apiVersion`,
        `${path}.ownerReferences.name`,
        `${path}.ownerReferences`,
        `${path}.finalizers`,
      ],
    )
  })
})
