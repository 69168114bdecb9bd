import { path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { int64, kindSchema, object, oneOfStrings, string } from '../fields.ts'
import { kcpConditions } from '../fragments.ts'
import { kcpKind, stored } from './fragments.ts'

const phases = ['Preparing', 'Migrating', 'OriginCleanup', 'DestinationFinalize', 'Completed', 'Failed']

export const logicalClusterMigration: KindDefinition = kcpKind(
  'migration.kcp.io',
  'LogicalClusterMigration',
  [
    stored('v1alpha1', {
      schema: kindSchema('LogicalClusterMigration moves a logical cluster to another shard.', {
        spec: object(
          'Desired state.',
          {
            destinationShard: string('Name of the shard that the logical cluster moves to.', {
              minLength: 1,
            }),
            logicalCluster: string('Name of the logical cluster.', { minLength: 1 }),
          },
          { required: ['destinationShard', 'logicalCluster'] },
        ),
        status: object('Observed state.', {
          conditions: kcpConditions,
          dumpContinue: string(
            'Token of the next page of stored entries that the destination requests. Empty when all are copied.',
          ),
          entriesCopied: int64('Number of stored entries that were copied to the destination.'),
          originShard: string('Name of the shard that the logical cluster moves from.'),
          phase: oneOfStrings('Phase of the migration.', phases, { default: 'Preparing' }),
        }),
      }),
      columns: [
        path('Logical Cluster', '.spec.logicalCluster', 'Logical cluster that moves'),
        path('Phase', '.status.phase', 'Phase of the migration'),
        path('Destination', '.spec.destinationShard', 'Shard that the logical cluster moves to'),
        { ...path('Entries Copied', '.status.entriesCopied', 'Number of copied entries'), type: 'integer' },
      ],
      status: true,
    }),
  ],
)
