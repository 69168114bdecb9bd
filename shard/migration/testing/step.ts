import type { KcpControllerDeps } from '../../controllers/host.ts'
import type { MigrationStep } from '../step.ts'

type Migration = MigrationStep['migration']

export interface StepParts extends Pick<Migration, 'metadata' | 'spec' | 'status'> {
  /** What the step uses of its dependencies. */
  readonly deps: object
  readonly write: MigrationStep['home']['write']
}

/** A step of the migration `root|move`, which this shard stores. */
export const stepOf = ({ deps, write, ...migration }: StepParts): MigrationStep => ({
  deps: deps as KcpControllerDeps,
  home: { read: async () => undefined, write },
  isHere: true,
  key: 'root|move',
  migration: {
    apiVersion: 'migration.kcp.io/v1alpha1',
    kind: 'LogicalClusterMigration',
    ...migration,
  },
})
