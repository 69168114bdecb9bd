import type { ClusterName } from '../../framework/meta/object.ts'
import type { PathReference } from '../../kcp/references.ts'
import type { WorkspaceType } from '../../kcp/tenancy.ts'

/** A workspace type and its logical cluster. */
export interface LocatedType {
  readonly cluster: ClusterName
  /** The canonical path of its workspace. */
  readonly path: string
  readonly type: WorkspaceType
}

/** Finds a type by its reference in an object of the logical cluster `from`. */
type FindType = (reference: PathReference, from: ClusterName) => LocatedType | undefined

/** Types that cannot be used, with the reason as message. */
export class TypesInvalid extends Error {
  override readonly name = 'TypesInvalid'
}

export const typeName = (located: LocatedType): string =>
  `${located.path}:${located.type.metadata.name ?? ''}`

/** The identifier of a type, and of its initializer or terminator. */
export const typeId = (cluster: ClusterName, name: string): string => `${cluster}:${name}`

export const idOf = ({ cluster, type }: LocatedType): string => typeId(cluster, type.metadata.name ?? '')

/** The types that a type may extend, and the references of all of them together. */
const [mostTypes, mostReferences] = [200, 10_000]

/**
 * The type after all types that it extends, each once: depth first, bases before the type itself. Throws `TypesInvalid` on a missing type,
 * on a cycle and on too many.
 */
export function typeChain(start: LocatedType, find: FindType): readonly LocatedType[] {
  const chain = new Map<string, LocatedType>()
  const trail = new Set<string>()
  let references = 0
  const visit = (located: LocatedType): void => {
    const id = typeName(located)
    if (trail.has(id)) throw circular(id, [...trail])
    if (chain.has(id)) return
    const bases = located.type.spec?.extend?.with ?? []
    references += bases.length
    if (chain.size + trail.size > mostTypes || references > mostReferences) throw tooMany(start)
    trail.add(id)
    for (const base of bases) visit(baseOf(base, located, find))
    trail.delete(id)
    chain.set(id, located)
  }
  visit(start)
  return [...chain.values()]
}

function circular(id: string, trail: readonly string[]): TypesInvalid {
  const circle = trail.slice(trail.indexOf(id)).join(' -> ')
  return new TypesInvalid(`circular dependency detected in workspace type ${id}: ${circle}`)
}

const tooMany = (start: LocatedType): TypesInvalid =>
  new TypesInvalid(
    `workspace type ${typeName(start)} extends more than ${mostTypes} types, or they have more than ${mostReferences} references`,
  )

function baseOf(base: PathReference, of: LocatedType, find: FindType): LocatedType {
  const found = find(base, of.cluster)
  if (found === undefined) throw new TypesInvalid(`unable to find inherited workspace type ${base.name}`)
  return found
}
