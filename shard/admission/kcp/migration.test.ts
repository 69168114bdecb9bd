import assert from 'node:assert/strict'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import { migrationAdmission } from './migration.ts'

const spec = { logicalCluster: 'one', destinationShard: 'beta' }

describe('admission of migrations', () => {
  const key = { cluster: 'root', namespace: '', name: 'move' }
  const update = (
    status: object,
    next: object,
    { groups = [], ...more }: Partial<AdmissionAttributes> & { readonly groups?: readonly string[] } = {},
  ): void => {
    const [group, resource] = ['migration.kcp.io', 'logicalclustermigrations']
    const request = { group, resource, subresource: '', operation: 'UPDATE', key, ...more }
    const objects = {
      old: { spec, status, metadata: { name: 'move' } },
      object: { spec: next, metadata: {} },
    }
    const ctx = { actAs: { name: 'ada', groups } }
    migrationAdmission.validate?.(ctx as never, { ...request, ...objects } as unknown as AdmissionAttributes)
  }
  const changed = { ...spec, destinationShard: 'gamma' }
  const begun = { originShard: 'alpha' }

  it('refuses another destination after the migration has begun', () => {
    assert.throws(() => update(begun, changed), { code: 403, message: /spec is immutable after/ })
    assert.throws(() => update(begun, { ...spec, logicalCluster: 'two' }), { code: 403 })
  })

  it('lets only shards write the status: they remove the objects of a logical cluster because of it', () => {
    const subresource = 'status'
    for (const groups of [[], ['system:kcp:admin'], ['system:authenticated']])
      assert.throws(() => update(begun, spec, { subresource, groups }), {
        code: 403,
        message: /status is written by shards only$/,
      })
    for (const group of ['system:masters', 'system:kcp:external-logical-cluster-admin'])
      update(begun, spec, { subresource, groups: [group] })
  })

  it('accepts changes before, and others afterwards', () => {
    update({}, changed)
    update({ originShard: '' }, changed)
    update(begun, { ...spec })
    update(begun, changed, { resource: 'others' })
  })
})
