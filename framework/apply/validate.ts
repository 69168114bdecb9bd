import { goText, goType } from '../encoding/gotext.ts'
import { elementOf } from './elements.ts'
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
  if (value === null || value === undefined) return []
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

const misfit = (text: string): Misfit => ({ path: '', text })

/** As Go prints the value's wrapper. */
const pointer = (value: unknown): string => `&{${goText(value)}}`

function scalarMisfits(scalar: Scalar, value: unknown): readonly Misfit[] {
  if (scalar === 'numeric' && !isNumber(value))
    return [misfit(`expected numeric (int or float), got ${goType(value)}`)]
  if (scalar === 'string' && typeof value !== 'string')
    return [misfit(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)]
  if (scalar === 'boolean' && typeof value !== 'boolean')
    return [misfit(`expected boolean, got ${pointer(value)}`)]
  return isScalar(value) ? [] : [misfit(`expected any scalar, got ${pointer(value)}`)]
}

/** As Go's `%#v` prints decoded JSON. */
function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)'
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isMembers(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `map[string]interface {}{${members.map(([key, v]) => `${JSON.stringify(key)}:${goSyntax(v)}`).join(', ')}}`
}

const at = (element: Element, misfits: readonly Misfit[]): readonly Misfit[] =>
  misfits.map(({ path, text }) => ({ path: printElement(element) + path, text }))

/** The first field that is not declared ends the search in its object. */
function memberMisfits(map: MapType | undefined, members: Members): readonly Misfit[] {
  const found: Misfit[] = []
  for (const [key, value] of Object.entries(members)) {
    const type = map?.member(key)
    const element = fieldElement(key)
    if (type === undefined) return [...found, ...at(element, [misfit('field not declared in schema')])]
    found.push(...at(element, misfitsOf(type, value)))
  }
  return found
}

function itemMisfits(list: ListType | undefined, items: List): readonly Misfit[] {
  if (list === undefined) return []
  if (list.isAtomic) return items.flatMap((item, i) => at(`i:${i}`, misfitsOf(list.item, item)))
  const seen = new Set<Element>()
  return items.flatMap((item, i) => {
    const element = elementOrMisfit(list, item, i)
    if (typeof element !== 'string') return [element]
    const twice = seen.has(element) ? [misfit(`duplicate entries for key ${printElement(element)}`)] : []
    seen.add(element)
    return [...twice, ...at(element, misfitsOf(list.item, item))]
  })
}

function elementOrMisfit(list: ListType, item: unknown, index: number): Element | Misfit {
  try {
    return elementOf(list, item, index)
  } catch (error) {
    if (error instanceof TypedError) return misfit(error.message)
    throw error
  }
}
