import { badRequest } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { PermissionClaim, PermissionClaimV1alpha1 } from '../../kcp/claims.ts'
import { exceedsV1Export, exportClaimToV1, exportClaimToV2, finder } from './claims.ts'
import { overhang, peekOverhang, readOverhang, withOverhang } from './overhang.ts'

interface ExportedResource {
  readonly name: string
  readonly group: string
  readonly schema: string
  readonly storage?: { readonly crd?: object; readonly virtual?: object }
}

interface SpecV1 {
  readonly latestResourceSchemas?: readonly string[]
  readonly permissionClaims?: readonly PermissionClaimV1alpha1[]
}

interface SpecV2 {
  readonly resources?: readonly ExportedResource[]
  readonly permissionClaims?: readonly PermissionClaim[]
}

/** v1alpha1 as v1alpha2. Throws 400 when a schema name, 403 when an overhang annotation cannot be read. */
export function apiExportToV2(object: KubeObject): KubeObject {
  const { latestResourceSchemas, permissionClaims, ...spec } = (object.spec ?? {}) as SpecV1
  const resources = [
    ...(latestResourceSchemas ?? []).map(resourceOfSchema),
    ...readOverhang<ExportedResource>(object, overhang.resourceSchemas),
  ]
  const kept = finder(readOverhang<PermissionClaim>(object, overhang.exportClaims))
  const claims = permissionClaims?.map(claim => exportClaimToV2(claim, kept(claim)))
  const original = permissionClaims?.filter(
    claim => claim.all !== undefined || claim.resourceSelector !== undefined,
  )
  return withOverhang(
    {
      ...object,
      apiVersion: 'apis.kcp.io/v1alpha2',
      spec: {
        ...spec,
        ...(resources.length === 0 ? {} : { resources }),
        ...(claims === undefined ? {} : { permissionClaims: claims }),
      },
    },
    [overhang.resourceSchemas, overhang.exportClaims, overhang.v1Claims],
    original === undefined ? {} : { [overhang.v1Claims]: original },
  )
}

/** v1alpha2 as v1alpha1. Never fails: stored objects must stay readable. */
export function apiExportToV1(object: KubeObject): KubeObject {
  const { resources, permissionClaims, ...spec } = (object.spec ?? {}) as SpecV2
  const schemas = resources?.filter(isCrd).map(resource => resource.schema)
  const original = finder(peekOverhang<PermissionClaimV1alpha1>(object, overhang.v1Claims))
  const claims = permissionClaims?.map(claim => exportClaimToV1(claim, original(claim)))
  return withOverhang(
    {
      ...object,
      apiVersion: 'apis.kcp.io/v1alpha1',
      spec: {
        ...spec,
        ...(schemas === undefined || schemas.length === 0 ? {} : { latestResourceSchemas: schemas }),
        ...(claims === undefined ? {} : { permissionClaims: claims }),
      },
    },
    [overhang.resourceSchemas, overhang.exportClaims, overhang.v1Claims],
    {
      [overhang.resourceSchemas]: (resources ?? []).filter(resource => !isCrd(resource)),
      [overhang.exportClaims]: (permissionClaims ?? []).filter(exceedsV1Export),
    },
  )
}

const isCrd = (resource: ExportedResource): boolean => resource.storage?.virtual === undefined

/** `today.widgets.example.io` is the resource `widgets` in group `example.io`. */
export function resourceOfSchema(schema: string): ExportedResource {
  const [, name, ...group] = schema.split('.')
  if (name === undefined || group.length === 0)
    throw badRequest(`invalid schema "${schema}": must have at least 3 dot-separated segments`)
  const joined = group.join('.')
  return { name, group: joined === 'core' ? '' : joined, schema, storage: { crd: {} } }
}
