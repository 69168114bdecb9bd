import type { RegistryPlugin } from '../chain.ts'
import { apiBindingAdmission } from './apibinding.ts'
import { apiExportAdmission } from './exports.ts'
import { apiResourceSchemaAdmission, type SchemaCheck } from './apiresourceschema.ts'
import { authenticationConfigurationWarnings } from './authenticationconfiguration.ts'
import { type CachedResourceRules, cachedResourceAdmission } from './cachedresource.ts'
import { endpointSliceAdmission } from './endpointslice.ts'
import type { ExportRules } from './exportreference.ts'
import { logicalClusterAdmission } from './logicalcluster.ts'
import { mountAdmission } from './mount.ts'
import { type ObjectCountDeps, objectCountLimit } from './objectcount.ts'
import { pathAnnotationAdmission } from './pathannotation.ts'
import { reservedDefinitions } from './reserved.ts'
import { workspaceAdmission } from './workspace.ts'
import { workspaceTypeAdmission } from './workspacetype.ts'
import { workspaceTypeExists } from './workspacetypeexists.ts'

export interface KcpAdmissionDeps
  extends ExportRules,
    CachedResourceRules,
    Omit<ObjectCountDeps, 'directory'> {
  readonly schemaErrors: SchemaCheck
}

/** kcp's plugins in kcp's order (chapter 20, section 3.1). */
export const kcpAdmission = ({
  directory,
  authorizer,
  schemaErrors,
  cache,
  apis,
  limit,
}: KcpAdmissionDeps): readonly RegistryPlugin[] => [
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
  pathAnnotationAdmission(directory),
  authenticationConfigurationWarnings,
  objectCountLimit({ directory, cache, limit }),
  cachedResourceAdmission({ cache, apis }),
]
