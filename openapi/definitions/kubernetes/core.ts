import type { KubeObject } from '../../../framework/meta/object.ts'
import { age, computed, fieldsOf, path, sizeOf, textOf } from '../columns.ts'
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
  schema: kindSchema('A scope for names.', {
    spec: object('What is wanted.', {
      finalizers: atomicList('What must be removed from here before the namespace is gone.'),
    }),
    status: object('What was observed.', {
      conditions: listMap(
        'How far deletion is.',
        ['type'],
        object(
          'One aspect of the observed state.',
          {
            lastTransitionTime: time('When status last changed.'),
            message: string('Details, for people.'),
            reason: string('Why, as one word in CamelCase.'),
            status: string('True, False or Unknown.'),
            type: string('Which aspect.'),
          },
          { required: ['type', 'status'] },
        ),
        mergedBy('type'),
      ),
      phase: string('Active or Terminating.'),
    }),
  }),
  columns: [path('Status', '.status.phase', 'The phase of the namespace.'), age],
  selectableFields: [{ jsonPath: '.status.phase' }],
})

export const configMaps = builtin({
  group: '',
  kind: 'ConfigMap',
  shortNames: ['cm'],
  namespaced: true,
  schema: kindSchema('Configuration, as named pieces of text or bytes.', {
    binaryData: map('Pieces that are not UTF-8.', { type: 'string', format: 'byte' }),
    data: map('Pieces that are UTF-8.', text),
    immutable: boolean('Whether the data may never change again.'),
  }),
  columns: [
    computed(['Data', 'string', 'How many pieces there are.'], o => sizeOf(o.data, o.binaryData)),
    age,
  ],
})

export const secrets = builtin({
  group: '',
  kind: 'Secret',
  namespaced: true,
  schema: kindSchema('Secret data, as named pieces of bytes.', {
    data: map('The pieces, in base64.', { type: 'string', format: 'byte' }),
    immutable: boolean('Whether the data may never change again.'),
    stringData: map('Pieces as text; joins data when written and is never read back.', text),
    type: string('What the data is for.', { default: 'Opaque' }),
  }),
  columns: [
    path('Type', '.type', 'What the data is for.'),
    computed(['Data', 'string', 'How many pieces there are.'], o => sizeOf(o.data)),
    age,
  ],
  selectableFields: [{ jsonPath: '.type' }],
})

export const serviceAccounts = builtin({
  group: '',
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  namespaced: true,
  schema: kindSchema('An identity for programs.', {
    automountServiceAccountToken: boolean('Whether pods get a token of it.'),
    imagePullSecrets: atomicList(
      'Secrets for pulling images.',
      atomicObject('One Secret.', { name: string('The name of the Secret.') }),
    ),
    secrets: listMap(
      'Secrets that pods may use.',
      ['name'],
      objectReference('One Secret.'),
      mergedBy('name'),
    ),
  }),
  columns: [computed(['Secrets', 'string', 'How many secrets there are.'], o => sizeOf(o.secrets)), age],
})

/** `requests.cpu: 1/2, …`: what is used of what is allowed, limits apart from the rest. */
function usage(quota: KubeObject, wantsLimits: boolean): string {
  const status = fieldsOf(quota.status)
  const [hard, used] = [fieldsOf(status.hard), fieldsOf(status.used)]
  const names = Object.keys(hard).filter(name => name.startsWith('limits.') === wantsLimits)
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
  schema: kindSchema('How much there may be in a namespace.', {
    spec: object('What is wanted.', {
      hard: map('The most there may be of each resource.', anyQuantity),
      scopeSelector: atomicObject('Which objects count.', {
        matchExpressions: atomicList(
          'Conditions on scopes, all of which must hold.',
          object(
            'One condition on one scope.',
            {
              operator: string('How scope and values relate: In, NotIn, Exists or DoesNotExist.'),
              scopeName: string('The scope.'),
              values: atomicList('The values for In and NotIn.'),
            },
            { required: ['scopeName', 'operator'] },
          ),
        ),
      }),
      scopes: atomicList('Scopes that objects must match to count.'),
    }),
    status: object('What was observed.', {
      hard: map('The limits that are enforced.', anyQuantity),
      used: map('How much there is.', anyQuantity),
    }),
  }),
  columns: [
    computed(['Request', 'string', 'What is used of each quota.'], quota => usage(quota, false)),
    computed(['Limit', 'string', 'What is used of each quota on limits.'], quota => usage(quota, true)),
    age,
  ],
})

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
