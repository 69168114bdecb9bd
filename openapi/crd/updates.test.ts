import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { validateCustomResourceDefinition } from './crd.ts'
import { crdOf, names, text, v1 } from './testing/definition.ts'

describe('updates of CustomResourceDefinitions', () => {
  const established = { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] }
  const update = (
    spec: object,
    oldStatus: object = established,
    status: object = oldStatus,
  ): readonly string[] =>
    atOnce(validateCustomResourceDefinition(crdOf(spec, { status }), crdOf({}, { status: oldStatus }))).map(
      text,
    )

  it('may not change scope and kind once established', () => {
    const changed = { scope: 'Cluster', names: { ...names, kind: 'Gadget' } }
    assert.deepEqual(update(changed), [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Gadget": field is immutable',
    ])
    assert.deepEqual(update(changed, { storedVersions: ['v1'] }), [])
  })

  it('may never change group and plural', () => {
    const errors = update({ group: 'other.com' }, { storedVersions: ['v1'] })
    assert.ok(errors.includes('spec.group: Invalid value: "other.com": field is immutable'))
  })

  it('keep stored versions', () => {
    const v2 = { ...v1, name: 'v2' }
    assert.deepEqual(update({ versions: [v2] }), [
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    ])
    const both = { ...established, storedVersions: ['v1', 'v2'] }
    assert.deepEqual(update({ versions: [{ ...v1, storage: false }, v2] }, established, both), [])
  })

  it('may not have more than 200 versions, unless they had more before', () => {
    const versionsOf = (count: number): object => ({
      versions: Array.from({ length: count }, (_, i) => ({ ...v1, name: `v${i + 1}`, storage: i === 0 })),
    })
    const errors = (count: number, before?: number): readonly string[] => {
      const old = before === undefined ? undefined : crdOf(versionsOf(before))
      return atOnce(validateCustomResourceDefinition(crdOf(versionsOf(count)), old)).map(text)
    }
    const tooMany = (count: number): string =>
      `spec.versions: Too many: ${count}: must have at most 200 items`
    assert.deepEqual(errors(200), [])
    assert.deepEqual(errors(201), [tooMany(201)])
    assert.deepEqual(errors(201, 201), [])
    assert.deepEqual(errors(202, 201), [tooMany(202)])
  })

  it('do not validate an unchanged schema again', () => {
    const broken = { versions: [{ ...v1, schema: { openAPIV3Schema: { type: 'object', nullable: true } } }] }
    const crd = crdOf(broken)
    assert.equal(atOnce(validateCustomResourceDefinition(crd)).length, 1)
    assert.deepEqual(atOnce(validateCustomResourceDefinition(crd, crdOf(broken))), [])
  })
})
