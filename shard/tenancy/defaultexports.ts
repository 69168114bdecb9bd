import type { ClusterName } from '../../framework/meta/object.ts'
import { defaultExportsAnnotation } from '../../kcp/annotations.ts'
import type { WorkspaceType } from '../../kcp/tenancy.ts'
import type { ClusterDirectory } from './directory.ts'

type DefaultExport = NonNullable<NonNullable<WorkspaceType['spec']>['defaultAPIBindings']>[number]

/** Logical clusters by `<path>|<name>` of an export. */
type Homes = Readonly<Record<string, ClusterName>>

const keyOf = ({ path = '', export: name }: DefaultExport): string => `${path}|${name}`

function homesOf(type: WorkspaceType | undefined): Homes {
  try {
    return JSON.parse(type?.metadata.annotations?.[defaultExportsAnnotation] ?? '{}') as Homes
  } catch {
    return {}
  }
}

/**
 * Whether a default binding of this type is still to the export whose permission was checked, when the export is in a logical
 * cluster. True for those of a type that names no logical clusters: it comes from kcp.
 */
export function defaultHomes(type: WorkspaceType): (binding: DefaultExport, home: ClusterName) => boolean {
  const homes = homesOf(type)
  return (binding, home) => {
    const key = keyOf(binding)
    return !Object.hasOwn(homes, key) || homes[key] === home
  }
}

/** The default bindings of a type that were not in its old state: their permission is checked. */
export function newDefaults(type: WorkspaceType, old: WorkspaceType | undefined): readonly DefaultExport[] {
  const known = new Set((old?.spec?.defaultAPIBindings ?? []).map(keyOf))
  return (type.spec?.defaultAPIBindings ?? []).filter(binding => !known.has(keyOf(binding)))
}

/** The annotation with the logical clusters of the default bindings with a path; undefined when there are none. */
export function defaultExports(
  { referencedCluster }: Pick<ClusterDirectory, 'referencedCluster'>,
  from: ClusterName,
  type: WorkspaceType,
  old: WorkspaceType | undefined,
): string | undefined {
  const added = new Set(newDefaults(type, old))
  const known = homesOf(old)
  const homes = (type.spec?.defaultAPIBindings ?? []).flatMap((binding): [string, ClusterName][] => {
    if (!binding.path) return []
    const key = keyOf(binding)
    const home = added.has(binding) ? referencedCluster(binding, from) : known[key]
    return home === undefined ? [] : [[key, home]]
  })
  return homes.length === 0 ? undefined : JSON.stringify(Object.fromEntries(homes))
}
