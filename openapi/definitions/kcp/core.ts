import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { boolean, kindSchema, list, map, object, string } from '../fields.ts'
import { initializerName, kcpConditions, quantity, userExtra, workspacePhase } from '../fragments.ts'
import { kcpKind, stored } from './fragments.ts'

const owner = object(
  'Object that owns the logical cluster, usually a Workspace.',
  {
    apiVersion: string('API group and version of the owner.', { pattern: '^([^/]+/)?[^/]+$' }),
    cluster: string('Name of the logical cluster of the owner.', { minLength: 1 }),
    name: string('Name of the owner.', { minLength: 1 }),
    namespace: string('Namespace of the owner.'),
    resource: string('Plural name of the resource of the owner.', { minLength: 1 }),
    uid: string('UID of the owner.'),
  },
  { required: ['apiVersion', 'cluster', 'name', 'resource', 'uid'] },
)

const createdBy = object('User that created the logical cluster.', {
  extra: userExtra('Extra attributes of the user.'),
  groups: list('Groups of the user.'),
  uid: string('UID of the user.'),
  username: string('Name of the user.'),
})

export const logicalCluster: KindDefinition = kcpKind('core.kcp.io', 'LogicalCluster', [
  stored('v1alpha1', {
    schema: kindSchema(
      'LogicalCluster describes the logical cluster that contains it. Each logical cluster has exactly one, named cluster.',
      {
        metadata: { type: 'object', properties: { name: { type: 'string', enum: ['cluster'] } } },
        spec: object(
          'Desired state.',
          {
            createdBy,
            directlyDeletable: boolean(
              'Whether this object can be deleted directly. If false, delete the owner instead.',
              {
                default: false,
              },
            ),
            initializers: list(
              'Initializers that must complete before the logical cluster is ready. Set at creation.',
              initializerName,
            ),
            owner,
            terminators: list(
              'Terminators that must complete before the logical cluster is deleted. Set at creation.',
              initializerName,
            ),
          },
          { default: {} },
        ),
        status: object(
          'Observed state.',
          {
            URL: string('URL of the logical cluster.'),
            conditions: kcpConditions,
            initializers: list('Initializers that have not completed.', initializerName),
            phase: workspacePhase,
            terminators: list('Terminators that have not completed.', initializerName),
          },
          { default: {} },
        ),
      },
    ),
    columns: [path('Phase', '.status.phase'), path('URL', '.status.URL'), crdAge],
    status: true,
  }),
])

const url = { format: 'uri', minLength: 1 }

export const shard: KindDefinition = kcpKind('core.kcp.io', 'Shard', [
  stored('v1alpha1', {
    schema: kindSchema('Shard describes a server that stores logical clusters.', {
      spec: object(
        'Desired state.',
        {
          baseURL: string('Address at which other shards and the front proxy reach the shard.', url),
          externalURL: string('Address at which clients reach the shard. Defaults to baseURL.', url),
          virtualWorkspaceURL: string(
            'Address at which clients reach the virtual workspaces of the shard. Defaults to baseURL.',
            url,
          ),
        },
        { required: ['baseURL'] },
      ),
      status: object('Observed state.', {
        capacity: map('Total capacity of the shard, by resource.', quantity),
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
