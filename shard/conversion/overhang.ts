import { maxDepth, parseJson, survey } from '../../framework/json/json.ts'
import { isMembers } from '../../framework/json/values.ts'
import { forbidden } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { apisGroup } from '../../kcp/apigroups.ts'
import type { ClaimedResource } from '../../kcp/claims.ts'

/**
 * Fields that one version lacks are kept in annotations as JSON lists (kcp `sdk/apis/apis/v1alpha2/conversion.go`).
 * The entries of a list belong to the claims with the same group, resource and identity in the other version.
 */
export const overhang = {
  resourceSchemas: 'apis.v1alpha2.kcp.io/resource-schemas',
  exportClaims: 'apis.v1alpha2.kcp.io/permission-claims',
  v1Claims: 'apis.v1alpha2.kcp.io/v1alpha1-permission-claims',
  bindingClaims: 'apis.v1alpha2.kcp.io/acceptable-permission-claims',
  statusExportClaims: 'apis.v1alpha2.kcp.io/status-export-permission-claims',
  statusAppliedClaims: 'apis.v1alpha2.kcp.io/status-applied-permission-claims',
  v1StatusExportClaims: 'apis.v1alpha2.kcp.io/v1alpha1-status-export-permission-claims',
  v1StatusAppliedClaims: 'apis.v1alpha2.kcp.io/v1alpha1-status-applied-permission-claims',
} as const

export type OverhangKey = (typeof overhang)[keyof typeof overhang]

export const claimKey = (claim: ClaimedResource): string =>
  `${claim.resource}/${claim.group ?? ''}/${claim.identityHash ?? ''}`

/** The list in an annotation, empty when there is none. Throws 403 when it is not a JSON list. */
export function readOverhang<T>(object: KubeObject, key: OverhangKey): readonly T[] {
  const text = object.metadata.annotations?.[key]
  if (text === undefined) return []
  const what = key === overhang.resourceSchemas ? 'resource schemas' : 'permission claims'
  const list = entriesIn(text)
  if (list !== undefined) return list as readonly unknown[] as readonly T[]
  const about = {
    group: apisGroup,
    resource: `${object.kind.toLowerCase()}s`,
    name: object.metadata.name ?? '',
  }
  const field = `metadata.annotations[${key}]: Invalid value: ${JSON.stringify(text)}`
  throw forbidden(about, `${field}: failed to decode overhanging ${what}`)
}

/** Fields of the entries that have to be texts: others are passed on as they are. */
const texts = ['group', 'resource', 'identityHash', 'name', 'schema']

/** The entries of a list, without null; undefined for text that is no list of resources or claims. */
function entriesIn(text: string): readonly object[] | undefined {
  const bytes = Buffer.from(text)
  if (survey(bytes).depth > maxDepth) return undefined
  try {
    const list: unknown = parseJson(bytes)
    if (!Array.isArray(list)) return undefined
    const entries = list.filter(entry => entry !== null)
    return entries.every(isEntry) ? entries : undefined
  } catch {
    return undefined
  }
}

const isEntry = (entry: unknown): boolean =>
  isMembers(entry) &&
  texts.every(field => ['string', 'undefined'].includes(typeof (entry[field] ?? undefined)))

/** Like `readOverhang`, but an unreadable annotation counts as empty: stored objects must stay readable. */
export function peekOverhang<T>(object: KubeObject, key: OverhangKey): readonly T[] {
  try {
    return readOverhang<T>(object, key)
  } catch {
    return []
  }
}

/** The object with some annotations replaced: consumed ones gone, empty lists left out, no empty annotation map. */
export function withOverhang(
  object: KubeObject,
  consumed: readonly OverhangKey[],
  produced: Partial<Record<OverhangKey, readonly unknown[]>>,
): KubeObject {
  const { annotations: old = {}, ...metadata } = object.metadata
  const annotations: Record<string, string> = {}
  for (const [key, value] of Object.entries(old)) {
    if (!(consumed as readonly string[]).includes(key)) annotations[key] = value
  }
  for (const [key, list] of Object.entries(produced)) {
    if (list !== undefined && list.length > 0) annotations[key] = JSON.stringify(list)
  }
  if (Object.keys(annotations).length === 0) return { ...object, metadata }
  return { ...object, metadata: { ...metadata, annotations } }
}
