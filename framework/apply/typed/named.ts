import { type Element, fieldOf, isKey } from '../fieldpath/fieldpath.ts'
import type { FieldSet } from '../fieldpath/fieldset.ts'
import type { Type } from './types.ts'

/**
 * The set with the declared fields that lie above its paths: `a` for `a.b.c`, but no keys of maps and no list items
 * (chapter 40, rule 5.41).
 */
export function withNamedFields(set: FieldSet, type: Type | undefined): FieldSet {
  const above = [...set.children.keys()].filter(element => isDeclared(type, element))
  return {
    members: new Set([...set.members, ...above]),
    children: new Map(
      [...set.children].map(([element, child]) => [
        element,
        withNamedFields(child, typeBelow(type, element)),
      ]),
    ),
  }
}

function isDeclared(type: Type | undefined, element: Element): boolean {
  const name = fieldOf(element)
  return name !== undefined && type?.map?.declares(name) === true
}

/** The type at an element; undefined when the schema does not know it. */
export function typeBelow(type: Type | undefined, element: Element): Type | undefined {
  const name = fieldOf(element)
  if (name !== undefined && type?.map) return type.map.member(name)
  return isKey(element) ? type?.list?.item : undefined
}
