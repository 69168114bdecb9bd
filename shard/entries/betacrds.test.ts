import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { crdFromBeta } from './betacrds.ts'

const beta = (spec: object): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget' }, ...spec },
  status: { storedVersions: ['v1'] },
})
const schema = { openAPIV3Schema: { type: 'object' } }
const column = { name: 'Age', type: 'date' }

describe('definitions of v1beta1', () => {
  it('have what their versions have in common in each of them', () => {
    const old = beta({
      version: 'v1',
      validation: schema,
      subresources: { status: {} },
      preserveUnknownFields: false,
      versions: [
        { name: 'v1', served: true, storage: true },
        { name: 'v2', served: false, storage: false },
      ],
      additionalPrinterColumns: [{ ...column, JSONPath: '.metadata.creationTimestamp' }],
      conversion: { strategy: 'None' },
    })
    const common = {
      schema,
      subresources: { status: {} },
      additionalPrinterColumns: [{ ...column, jsonPath: '.metadata.creationTimestamp' }],
    }
    const { apiVersion, spec, status } = crdFromBeta(old)
    assert.equal(apiVersion, 'apiextensions.k8s.io/v1')
    assert.deepEqual(status, old.status)
    assert.deepEqual(spec, {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [
        { name: 'v1', served: true, storage: true, ...common },
        { name: 'v2', served: false, storage: false, ...common },
      ],
      conversion: { strategy: 'None' },
    })
  })

  it('keep what each version has of its own', () => {
    const own = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const { spec } = crdFromBeta(
      beta({
        preserveUnknownFields: false,
        versions: [{ name: 'v1', served: true, storage: true, schema: own, selectableFields: [] }],
        conversion: {
          strategy: 'Webhook',
          conversionReviewVersions: ['v1'],
          webhookClientConfig: { url: 'https://example.com' },
        },
      }),
    )
    const { versions, conversion } = spec as { versions: unknown; conversion: unknown }
    assert.deepEqual(versions, [
      { name: 'v1', served: true, storage: true, schema: own, selectableFields: [] },
    ])
    assert.deepEqual(conversion, {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://example.com' }, conversionReviewVersions: ['v1'] },
    })
  })

  it('of one version have no list of versions, and keep unknown fields unless they say otherwise', () => {
    const { spec } = crdFromBeta(beta({ version: 'v1' }))
    const { versions, preserveUnknownFields } = spec as Record<string, unknown>
    assert.deepEqual(versions, [{ name: 'v1', served: true, storage: true }])
    assert.equal(preserveUnknownFields, true)
  })
})
