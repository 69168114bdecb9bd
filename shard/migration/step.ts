import type { ConditionState } from '../../kcp/conditions.ts'
import { setConditions } from '../../kcp/conditions.ts'
import type { LogicalClusterMigration, MigrationPhase, MigrationStatus } from '../../kcp/migration.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import type { MigrationHome } from './home.ts'

/** One migration in reconciliation. */
export interface MigrationStep {
  readonly deps: KcpControllerDeps
  readonly home: MigrationHome
  /** This shard stores it. */
  readonly isHere: boolean
  /** `<logical cluster>|<name>` */
  readonly key: string
  readonly migration: LogicalClusterMigration
}

/** The value of the annotation of a logical cluster that moves because of a migration (kcp writes the same). */
export const annotationOf = (key: string): string => key.replace('|', ':')

/** The inverse of `annotationOf`. */
export function keyInAnnotation(value: string): string {
  const colon = value.lastIndexOf(':')
  return `${value.slice(0, colon)}|${value.slice(colon + 1)}`
}

export const clusterOf = ({ migration }: MigrationStep): string => migration.spec?.logicalCluster ?? ''
export const destinationOf = ({ migration }: MigrationStep): string => migration.spec?.destinationShard ?? ''

/** Phases from which a migration is aborted: the objects of the logical cluster are still those of its first shard. */
export const isBeforeSwitch = (phase: MigrationPhase | undefined): boolean =>
  phase === undefined || phase === 'Preparing' || phase === 'Migrating'

/** Milliseconds after which a migration that cannot go on is tried again. */
export const tryAgain = 2_000

/** What a step does to a status; conditions are added to the known ones. */
export type MigrationProgress = Omit<MigrationStatus, 'conditions'> & {
  readonly conditions?: readonly ConditionState[]
}

/** Writes the progress of a migration; the event of the write causes the next step. */
export async function report(
  { home, key, migration }: MigrationStep,
  { conditions = [], ...progress }: MigrationProgress,
): Promise<void> {
  const known = migration.status?.conditions
  const next = { ...migration.status, ...progress, conditions: setConditions(known, conditions) }
  await home.write(migration, key, { status: next })
}
