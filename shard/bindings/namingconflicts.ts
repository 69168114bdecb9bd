import { groupResource } from '../../framework/meta/object.ts'
import type { APIResourceSchema } from '../../kcp/apis.ts'
import type { PathReference } from '../../kcp/references.ts'

/** Names in use in a group of a logical cluster. */
export interface TakenNames {
  readonly group: string
  readonly names: APIResourceSchema['spec']['names']
  /** `APIBinding "b" bound to APIExport root:org:widgets`, `CustomResourceDefinition "widgets.example.io"`. */
  readonly by: string
}

/** A binding that uses names, as messages print it. */
export const bindingHolder = (binding: string, reference: PathReference | undefined): string =>
  reference?.path
    ? `APIBinding "${binding}" bound to APIExport ${reference.path}:${reference.name}`
    : `APIBinding "${binding}" bound to local APIExport "${reference?.name ?? ''}"`

type Names = APIResourceSchema['spec']['names']

/** Plural, singular and short names share one space, kinds and list kinds another. */
const resourceNames = ({ plural = '', singular = '', shortNames = [] }: Partial<Names>): readonly string[] =>
  [plural, singular, ...shortNames].filter(name => name !== '')
const kindNames = ({ kind = '', listKind = '' }: Partial<Names>): readonly string[] =>
  [kind, listKind].filter(name => name !== '')

/** The names that no other resource of the group may have; those of kinds begin with `kind/`. */
export const namesOf = (names: Partial<Names>): readonly string[] => [
  ...new Set([...resourceNames(names), ...kindNames(names).map(kindName)]),
]

export const kindName = (kind: string): string => `kind/${kind}`

/**
 * The message for the first name of the schema that is already used in its group (kcp
 * `pkg/reconciler/apis/conflict_checker.go`).
 */
export function namingConflict(
  { spec }: APIResourceSchema,
  taken: readonly TakenNames[],
): string | undefined {
  for (const { group, names, by } of taken) {
    if (group !== spec.group) continue
    const field = conflictingField(spec.names, names)
    if (field !== undefined) return `naming conflict with ${by}: spec.names.${field} is forbidden`
  }
  return undefined
}

function conflictingField(mine: Names, theirs: Names): string | undefined {
  const [resources, kinds] = [new Set(resourceNames(theirs)), kindNames(theirs)]
  if (resources.has(mine.plural)) return `plural=${mine.plural}`
  if (mine.singular && resources.has(mine.singular)) return `singular=${mine.singular}`
  const short = mine.shortNames?.find(name => resources.has(name))
  if (short !== undefined) return `shortNames=${short}`
  if (kinds.includes(mine.kind)) return `kind=${mine.kind}`
  if (mine.listKind && kinds.includes(mine.listKind)) return `listKind=${mine.listKind}`
  return undefined
}

/** The owner of a resource: a binding by name, or a CustomResourceDefinition. */
export interface ResourceOwner {
  readonly binding: string
  readonly crd: boolean
}

/** The resources that are already bound or defined, as kcp prints them. */
export function heldMessage(held: ReadonlyMap<string, ResourceOwner>): string {
  const entries = [...held]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, { binding, crd }]) => `${resource}:{${binding} ${crd}}`)
  return `Unable to bind APIs because they are bound by other APIBindings or CRDs: map[${entries.join(' ')}]`
}

export const resourceName = ({ group, resource }: { group: string; resource: string }): string =>
  groupResource(group, resource)
