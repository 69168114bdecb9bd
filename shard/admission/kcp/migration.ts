import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { sameJson } from '../../../framework/json/same.ts'
import { migrationGroup } from '../../../kcp/apigroups.ts'
import type { LogicalClusterMigration } from '../../../kcp/migration.ts'
import { concerns, refused } from '../refusal.ts'

const migrations = `logicalclustermigrations.${migrationGroup}`

/**
 * A migration that has an origin moves the same logical cluster to the same shard until its end: two destinations would each have
 * some of the objects. kcp has no such check.
 */
export const migrationAdmission: AdmissionPlugin = {
  name: 'oriel.dev/LogicalClusterMigration',
  handles: { resources: [migrations] },
  validate(_ctx, request) {
    if (!concerns(request, migrations, ['UPDATE'])) return
    const { spec, status } = request.old as LogicalClusterMigration
    if (status?.originShard && !sameJson(spec, request.object?.spec))
      throw refused(request, 'spec is immutable after the migration has begun')
  },
}
