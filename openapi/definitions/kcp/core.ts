import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { boolean, kindSchema, list, map, object, string } from '../fields.ts'
import { initializerName, kcpConditions, quantity, userExtra, workspacePhase } from '../fragments.ts'
import { kcpKind, stored } from './fragments.ts'

const owner = object(
  'The object that stands for this logical cluster, usually a Workspace.',
  {
    apiVersion: string('Group and version of the owner.', { pattern: '^([^/]+/)?[^/]+$' }),
    cluster: string('The logical cluster of the owner.', { minLength: 1 }),
    name: string('The name of the owner.', { minLength: 1 }),
    namespace: string('The namespace of the owner.'),
    resource: string('The resource of the owner.', { minLength: 1 }),
    uid: string('The UID of the owner.'),
  },
  { required: ['apiVersion', 'cluster', 'name', 'resource', 'uid'] },
)

const createdBy = object('Who created it.', {
  extra: userExtra('Extra attributes of the user.'),
  groups: list('The groups of the user.'),
  uid: string('The UID of the user.'),
  username: string('The name of the user.'),
})

export const logicalCluster: KindDefinition = kcpKind('core.kcp.io', 'LogicalCluster', [
  stored('v1alpha1', {
    schema: kindSchema('The logical cluster itself: the one object named `cluster` in each of them.', {
      metadata: { type: 'object', properties: { name: { type: 'string', enum: ['cluster'] } } },
      spec: object(
        'What is wanted.',
        {
          createdBy,
          directlyDeletable: boolean('Whether deleting this object is allowed; else delete the owner.', {
            default: false,
          }),
          initializers: list('What must finish before the cluster is ready; set once.', initializerName),
          owner,
          terminators: list('What must finish before the cluster is deleted; set once.', initializerName),
        },
        { default: {} },
      ),
      status: object(
        'What was observed.',
        {
          URL: string('Where the cluster is reached.'),
          conditions: kcpConditions,
          initializers: list('What has not yet finished before the cluster is ready.', initializerName),
          phase: workspacePhase,
          terminators: list('What has not yet finished before the cluster is deleted.', initializerName),
        },
        { default: {} },
      ),
    }),
    columns: [path('Phase', '.status.phase'), path('URL', '.status.URL'), crdAge],
    status: true,
  }),
])

const url = { format: 'uri', minLength: 1 }

export const shard: KindDefinition = kcpKind('core.kcp.io', 'Shard', [
  stored('v1alpha1', {
    schema: kindSchema('A server that keeps logical clusters.', {
      spec: object(
        'What is wanted.',
        {
          baseURL: string('Where other shards and the front proxy reach it.', url),
          externalURL: string('Where clients reach it; baseURL if unset.', url),
          virtualWorkspaceURL: string('Where its virtual workspaces are reached; baseURL if unset.', url),
        },
        { required: ['baseURL'] },
      ),
      status: object('What was observed.', {
        capacity: map('What the shard has room for.', quantity),
        conditions: kcpConditions,
      }),
    }),
    columns: [
      path('Region', ".metadata.labels['region']"),
      path('URL', '.spec.baseURL'),
      path('External URL', '.spec.externalURL'),
      crdAge,
    ],
    status: true,
  }),
])
