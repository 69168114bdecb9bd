import type { KubeObject } from '../../../framework/meta/object.ts'
import { age, computed, fieldsOf, path, sizeOf, specOf, textOf } from '../columns.ts'
import {
  atomicList,
  atomicObject,
  boolean,
  int32,
  kindSchema,
  listMap,
  map,
  mergedBy,
  object,
  string,
  time,
} from '../fields.ts'
import { anyQuantity, objectReference } from '../fragments.ts'
import { builtin } from './kind.ts'

const text = { type: 'string' } as const

export const namespaces = builtin({
  group: '',
  kind: 'Namespace',
  shortNames: ['ns'],
  status: true,
  schema: kindSchema('Namespace provides a scope for names.', {
    spec: object('Desired state.', {
      finalizers: atomicList('Finalizers that must be removed before the namespace is deleted.'),
    }),
    status: object('Observed state.', {
      conditions: listMap(
        'Conditions of the deletion of the namespace.',
        ['type'],
        object(
          'A condition of the object.',
          {
            lastTransitionTime: time('Last time the status of the condition changed.'),
            message: string('Human-readable details about the last transition.'),
            reason: string('Reason for the last transition, as one word in CamelCase.'),
            status: string('Status of the condition: True, False or Unknown.'),
            type: string('Type of the condition, in CamelCase.'),
          },
          { required: ['type', 'status'] },
        ),
        mergedBy('type'),
      ),
      phase: string('Current phase: Active or Terminating.'),
    }),
  }),
  columns: [path('Status', '.status.phase', 'Phase of the namespace.'), age],
  selectableFields: [{ jsonPath: '.status.phase' }],
})

export const configMaps = builtin({
  group: '',
  kind: 'ConfigMap',
  shortNames: ['cm'],
  namespaced: true,
  schema: kindSchema('ConfigMap holds configuration data.', {
    binaryData: map('Binary data, base64-encoded. Keys must not overlap with the keys of data.', {
      type: 'string',
      format: 'byte',
    }),
    data: map('Data as UTF-8 text.', text),
    immutable: boolean('If true, the data cannot be updated, and immutable cannot be unset.'),
  }),
  columns: [computed(['Data', 'string', 'Number of entries.'], o => sizeOf(o.data, o.binaryData)), age],
})

export const secrets = builtin({
  group: '',
  kind: 'Secret',
  namespaced: true,
  schema: kindSchema('Secret holds secret data.', {
    data: map('Secret data, base64-encoded.', { type: 'string', format: 'byte' }),
    immutable: boolean('If true, the data cannot be updated, and immutable cannot be unset.'),
    stringData: map('Write-only secret data as text. Merged into data on write, and never returned.', text),
    type: string('Type of the Secret, which tells how its data is used.', { default: 'Opaque' }),
  }),
  columns: [
    path('Type', '.type', 'Type of the Secret, which tells how its data is used.'),
    computed(['Data', 'string', 'Number of entries.'], o => sizeOf(o.data)),
    age,
  ],
  selectableFields: [{ jsonPath: '.type' }],
})

export const serviceAccounts = builtin({
  group: '',
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  namespaced: true,
  schema: kindSchema('ServiceAccount is an identity for processes.', {
    automountServiceAccountToken: boolean('Whether a token of this service account is mounted in pods.'),
    imagePullSecrets: atomicList(
      'Secrets used to pull images.',
      atomicObject('Reference to a Secret.', { name: string('Name of the Secret.') }),
    ),
    secrets: listMap(
      'Secrets that pods of this service account can use.',
      ['name'],
      objectReference('Reference to a Secret.'),
      mergedBy('name'),
    ),
  }),
  columns: [age],
})

/** `requests.cpu: 1/2, …`: usage and hard limits, of `limits.` resources or of all others. */
function usage(quota: KubeObject, shown: 'requests' | 'limits'): string {
  const status = fieldsOf(quota.status)
  const [hard, used] = [fieldsOf(status.hard), fieldsOf(status.used)]
  const names = Object.keys(hard).filter(name => name.startsWith('limits.') === (shown === 'limits'))
  return names
    .sort()
    .map(name => `${name}: ${textOf(used[name]) || '0'}/${textOf(hard[name])}`)
    .join(', ')
}

export const resourceQuotas = builtin({
  group: '',
  kind: 'ResourceQuota',
  shortNames: ['quota'],
  namespaced: true,
  status: true,
  schema: kindSchema('ResourceQuota limits the resource usage of a namespace.', {
    spec: object('Desired state.', {
      hard: map('Hard limit of each resource.', anyQuantity),
      scopeSelector: atomicObject('Scope expressions that an object must match to be counted.', {
        matchExpressions: atomicList(
          'List of scope selector requirements. The requirements are ANDed.',
          object(
            'A requirement on the values of one scope.',
            {
              operator: string('Relation of the scope to the values: In, NotIn, Exists or DoesNotExist.'),
              scopeName: string('Name of the scope that the requirement applies to.'),
              values: atomicList('Values for the operators In and NotIn.'),
            },
            { required: ['scopeName', 'operator'] },
          ),
        ),
      }),
      scopes: atomicList('Scopes that an object must match to be counted.'),
    }),
    status: object('Observed state.', {
      hard: map('Enforced hard limit of each resource.', anyQuantity),
      used: map('Current usage of each resource.', anyQuantity),
    }),
  }),
  columns: [
    computed(['Request', 'string', 'Usage and hard limit of each resource.'], quota =>
      usage(quota, 'requests'),
    ),
    computed(['Limit', 'string', 'Usage and hard limit of each resource limit.'], quota =>
      usage(quota, 'limits'),
    ),
    age,
  ],
})

export const leases = builtin({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  namespaced: true,
  schema: kindSchema('Lease is a lock that expires unless its holder renews it.', {
    spec: object('Desired state.', {
      acquireTime: time('Time when the current holder acquired the lease.'),
      holderIdentity: string('Identity of the current holder.'),
      leaseDurationSeconds: int32('Time after renewTime until others can acquire the lease, in seconds.'),
      leaseTransitions: int32('Number of times that the lease changed its holder.'),
      preferredHolder: string('Identity of the preferred next holder.'),
      renewTime: time('Time when the current holder last renewed the lease.'),
      strategy: string('Strategy of coordinated leader election by which the holder is chosen.'),
    }),
  }),
  columns: [
    computed(['Holder', 'string', 'Identity of the current holder.'], o => textOf(specOf(o).holderIdentity)),
    age,
  ],
})
