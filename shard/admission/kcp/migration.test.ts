import assert from 'node:assert/strict'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import { migrationAdmission } from './migration.ts'

const spec = { logicalCluster: 'one', destinationShard: 'beta' }

describe('admission of migrations', () => {
  const key = { cluster: 'root', namespace: '', name: 'move' }
  const update = (status: object, next: object, more: Partial<AdmissionAttributes> = {}): void => {
    const [group, resource] = ['migration.kcp.io', 'logicalclustermigrations']
    const request = { group, resource, subresource: '', operation: 'UPDATE', key, ...more }
    const objects = {
      old: { spec, status, metadata: { name: 'move' } },
      object: { spec: next, metadata: {} },
    }
    migrationAdmission.validate?.({} as never, { ...request, ...objects } as unknown as AdmissionAttributes)
  }
  const changed = { ...spec, destinationShard: 'gamma' }
  const begun = { originShard: 'alpha' }

  it('refuses another destination after the migration has begun', () => {
    assert.throws(() => update(begun, changed), { code: 403, message: /spec is immutable after/ })
    assert.throws(() => update(begun, { ...spec, logicalCluster: 'two' }), { code: 403 })
  })

  it('accepts changes before, and others afterwards', () => {
    update({}, changed)
    update({ originShard: '' }, changed)
    update(begun, { ...spec })
    update(begun, changed, { resource: 'others' })
  })
})
