import { fieldOf, type PathElement } from './fieldpath/fieldpath.ts'
import { type FieldSet, isEmpty } from './fieldpath/fieldset.ts'
import type { MapType, MergeType } from './typed/types.ts'

/**
 * Adapts a set to a changed schema: a field that has become atomic is owned as a whole. Returns the same set if nothing
 * changes (`typed.ReconcileFieldSetWithSchema`; rules.md 5.49).
 */
export function reconcile(set: FieldSet, type: MergeType): FieldSet {
  return reconcileChildren(set, element => memberType(type, element))
}

function memberType(type: MergeType, element: PathElement): MergeType | undefined {
  if (type.map) return type.map.isFree ? undefined : mapMember(type.map, element)
  return type.scalar ? undefined : type.list?.item
}

function mapMember(map: MapType, element: PathElement): MergeType | undefined {
  const name = fieldOf(element)
  return name === undefined ? undefined : map.member(name)
}

function reconcileChildren(set: FieldSet, typeAt: (element: PathElement) => MergeType | undefined): FieldSet {
  const whole: PathElement[] = []
  const changed: (readonly [PathElement, FieldSet])[] = []
  for (const [element, child] of set.children) {
    const type = typeAt(element)
    if (type === undefined) continue
    if (isWhole(type)) whole.push(element)
    else {
      const next = reconcile(child, type)
      if (next !== child) changed.push([element, next])
    }
  }
  if (whole.length === 0 && changed.length === 0) return set
  const children = new Map([...set.children, ...changed])
  for (const element of whole) children.delete(element)
  return { members: new Set([...set.members, ...whole]), children: nonEmpty(children) }
}

/** The type is atomic now: the fields below it become the field itself. */
function isWhole({ map, scalar, list }: MergeType): boolean {
  if (map) return !map.isFree && map.isAtomic
  return !scalar && list?.isAtomic === true
}

const nonEmpty = (children: ReadonlyMap<PathElement, FieldSet>): ReadonlyMap<PathElement, FieldSet> =>
  new Map([...children].filter(([, child]) => !isEmpty(child)))
