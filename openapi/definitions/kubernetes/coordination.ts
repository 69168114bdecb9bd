import { age, path } from '../columns.ts'
import { int32, kindSchema, object, string, time } from '../fields.ts'
import { builtin } from './kind.ts'

export const leases = builtin({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  namespaced: true,
  schema: kindSchema('A lock with an end: who leads, or who is alive.', {
    spec: object('The lock.', {
      acquireTime: time('When the holder got it, in microseconds.'),
      holderIdentity: string('Who holds it.'),
      leaseDurationSeconds: int32('How long after renewTime others must wait, in seconds.'),
      leaseTransitions: int32('How often it changed hands.'),
      preferredHolder: string('Who should get it next.'),
      renewTime: time('When the holder last renewed it, in microseconds.'),
      strategy: string('How the next holder is chosen.'),
    }),
  }),
  columns: [path('Holder', '.spec.holderIdentity', 'Who holds the lease.'), age],
})
