import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { sameJson } from '../../../framework/json/same.ts'
import { migrationGroup } from '../../../kcp/apigroups.ts'
import type { LogicalClusterMigration } from '../../../kcp/migration.ts'
import { isSystem } from '../../../kcp/users.ts'
import { concerns, refused } from '../refusal.ts'

const migrations = `logicalclustermigrations.${migrationGroup}`

const isMigration = ({ resource, group }: AdmissionAttributes): boolean =>
  `${resource}.${group}` === migrations

/**
 * A migration that has an origin moves the same logical cluster to the same shard until its end: two destinations would each have
 * some of the objects. Only shards write its status, because they remove and show objects by its phase. kcp has no such checks.
 */
export const migrationAdmission: AdmissionPlugin = {
  name: 'oriel.dev/LogicalClusterMigration',
  handles: { resources: [migrations] },
  validate({ actAs }, request) {
    if (request.subresource === 'status' && isMigration(request) && !isSystem(actAs))
      throw refused(request, 'status is written by shards only')
    if (!concerns(request, migrations, ['UPDATE'])) return
    const { spec, status } = request.old as LogicalClusterMigration
    if (status?.originShard && !sameJson(spec, request.object?.spec))
      throw refused(request, 'spec is immutable after the migration has begun')
  },
}
