import type { RegistryPlugin } from '../chain.ts'
import { type QuotaAdmissionDeps, quotaAdmission } from '../quota/quota.ts'
import { acceptedClaimsAdmission } from './acceptedclaims.ts'
import { apiBindingAdmission } from './apibinding.ts'
import { authenticationConfigurations } from './authenticationconfiguration.ts'
import {
  apiExportAdmission,
  apiResourceSchemaAdmission,
  type CachedResourceRules,
  cachedResourceAdmission,
  endpointSliceAdmission,
  type SchemaCheck,
} from './exports.ts'
import { fieldTypes } from './fieldtypes.ts'
import { logicalClusterAdmission } from './logicalcluster.ts'
import { migrationAdmission } from './migration.ts'
import type { ExportRules } from './permission.ts'
import { publishingAdmission } from './publishing.ts'
import { pathAnnotationAdmission, reservedDefinitions } from './reserved.ts'
import { viewAdmission } from './view.ts'
import { mountAdmission, workspaceAdmission } from './workspace.ts'
import { workspaceTypeAdmission } from './workspacetype.ts'
import { workspaceTypeExists } from './workspacetypeexists.ts'

export interface KcpAdmissionDeps
  extends ExportRules,
    CachedResourceRules,
    Omit<QuotaAdmissionDeps, 'directory'> {
  readonly schemaErrors: SchemaCheck
}

/** kcp's plugins in kcp's order (`pkg/admission/plugins.go`), after the check of the types that they read; and Oriel's own. */
export const kcpAdmission = ({
  directory,
  authorizer,
  schemaErrors,
  cache,
  apis,
  usage,
  limits,
  disk,
}: KcpAdmissionDeps): readonly RegistryPlugin[] => [
  fieldTypes,
  apiResourceSchemaAdmission(schemaErrors),
  workspaceAdmission(directory),
  mountAdmission,
  workspaceTypeAdmission(directory, authorizer),
  workspaceTypeExists(directory, authorizer),
  logicalClusterAdmission(directory),
  apiExportAdmission,
  apiBindingAdmission({ directory, authorizer }),
  endpointSliceAdmission({ directory, authorizer }),
  reservedDefinitions,
  migrationAdmission,
  pathAnnotationAdmission(directory),
  authenticationConfigurations,
  quotaAdmission({ directory, usage, limits, disk }),
  cachedResourceAdmission({ cache, apis }),
  viewAdmission({ authorizer, cache }),
  publishingAdmission(authorizer),
  acceptedClaimsAdmission(cache),
]
