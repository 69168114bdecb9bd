import { goText, goType } from '../encoding/gotext.ts'
import { knownElementsOf, nameless, namelessText } from './elements.ts'
import { type Misfit, TypedError } from './failure.ts'
import { type Element, fieldElement, printElement } from './fieldpath.ts'
import { branchOf, type ListType, type MapType, type Scalar, type Type } from './types.ts'
import { isList, isMembers, isNumber, isScalar, type List, type Members } from './values.ts'

/**
 * Whether an applied value fits its type (chapter 40, rule 5.44): throws a `TypedError` for wrong kinds, fields that are not
 * declared, and items that are given twice. Null is always fine.
 */
export function validate(type: Type, value: unknown): void {
  const misfits = misfitsOf(type, value)
  if (misfits.length > 0) throw new TypedError(misfits)
}

function misfitsOf(type: Type, value: unknown): readonly Misfit[] {
  if (value === null || value === undefined) return none
  switch (branchOf(type, value)) {
    case 'map':
      return isMembers(value)
        ? memberMisfits(type.map, value)
        : [misfit(`expected map, got ${pointer(value)}`)]
    case 'list':
      return isList(value) ? itemMisfits(type.list, value) : [misfit(`expected list, got ${pointer(value)}`)]
    default:
      return scalarMisfits(type.scalar ?? 'untyped', value)
  }
}

const none: readonly Misfit[] = []
const misfit = (text: string): Misfit => ({ path: '', text })
const undeclared = [misfit('field not declared in schema')]

/** As Go prints the value's wrapper. */
const pointer = (value: unknown): string => `&{${goText(value)}}`

function scalarMisfits(scalar: Scalar, value: unknown): readonly Misfit[] {
  if (scalar === 'numeric' && !isNumber(value))
    return [misfit(`expected numeric (int or float), got ${goType(value)}`)]
  if (scalar === 'string' && typeof value !== 'string')
    return [misfit(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)]
  if (scalar === 'boolean' && typeof value !== 'boolean')
    return [misfit(`expected boolean, got ${pointer(value)}`)]
  return isScalar(value) ? none : [misfit(`expected any scalar, got ${pointer(value)}`)]
}

/** As Go's `%#v` prints decoded JSON. */
function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)'
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isMembers(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `map[string]interface {}{${members.map(([key, v]) => `${JSON.stringify(key)}:${goSyntax(v)}`).join(', ')}}`
}

/** Puts an element in front of the paths of what is wrong below it. */
function put(found: Misfit[], element: Element, misfits: readonly Misfit[]): void {
  for (const { path, text } of misfits) found.push({ path: printElement(element) + path, text })
}

/** The first field that is not declared ends the search in its object. */
function memberMisfits(map: MapType | undefined, members: Members): readonly Misfit[] {
  const found: Misfit[] = []
  for (const key of Object.keys(members)) {
    const type = map?.member(key)
    const misfits = type === undefined ? undeclared : misfitsOf(type, members[key])
    if (misfits.length > 0) put(found, fieldElement(key), misfits)
    if (type === undefined) break
  }
  return found
}

function itemMisfits(list: ListType | undefined, items: List): readonly Misfit[] {
  if (list === undefined) return none
  const elements = list.isAtomic ? undefined : knownElementsOf(list, items)
  const found: Misfit[] = []
  const seen = new Set<Element>()
  items.forEach((item, i) => {
    const element = elements?.[i] ?? `i:${i}`
    if (element === nameless) {
      found.push(misfit(namelessText(list, item, i)))
      return
    }
    if (seen.has(element)) found.push(misfit(`duplicate entries for key ${printElement(element)}`))
    seen.add(element)
    const misfits = misfitsOf(list.item, item)
    if (misfits.length > 0) put(found, element, misfits)
  })
  return found
}
