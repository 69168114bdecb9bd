import { type PathElement, parseElement } from './fieldpath.ts'
import { type FieldSet, noFields, SetBuilder } from './fieldset.ts'
import { Leaves } from './leaves.ts'
import { isMembers, type Members } from './values.ts'

/** `metav1.FieldsV1`: a field set as a tree of objects; `.` is the element itself (rules.md 5.21, 5.22). */
export type FieldsV1 = { readonly [element: string]: FieldsV1 }

const itself = '.'
const nothing: FieldsV1 = {}

/** Encoded sets, without `.`: sets share parts, and a decoded set is encoded as it was. */
const texts = new WeakMap<FieldSet, FieldsV1>()

/** Encodes a set. Keys are in the order of their bytes. */
export function formatFields(set: FieldSet): FieldsV1 {
  const fields = formatNode(set)
  sets.set(fields, set)
  return fields
}

function formatNode(set: FieldSet): FieldsV1 {
  const known = texts.get(set)
  if (known !== undefined) return known
  const fields = format(set)
  texts.set(set, fields)
  return fields
}

function format({ members, children }: FieldSet): FieldsV1 {
  const fields: Record<PathElement, FieldsV1> = {}
  const above = [...children.keys()].filter(element => !members.has(element))
  for (const element of [...members, ...above].sort()) {
    const child = children.get(element)
    const below = child === undefined ? nothing : formatNode(child)
    fields[element] = child !== undefined && members.has(element) ? { [itself]: nothing, ...below } : below
  }
  return fields
}

interface Node {
  readonly set: FieldSet
  readonly isMember: boolean
  /** All elements are canonical. */
  readonly isCanonical: boolean
}

/** Sets that were decoded or encoded, by the object that contains them. */
const sets = new WeakMap<object, FieldSet>()

/** Throws `SyntaxError` for invalid `fieldsV1`; unknown kinds of elements are ignored. */
export function parseFields(value: unknown): FieldSet {
  const known = isMembers(value) ? sets.get(value) : undefined
  if (known !== undefined) return known
  const { set } = parseNode(value)
  if (isMembers(value)) sets.set(value, set)
  return set
}

const leaves = new Leaves<Node>()

function parseNode(value: unknown): Node {
  if (!isMembers(value)) throw new SyntaxError('fieldsV1 is made of objects')
  return leaves.of(value, () => parseMembers(value)) ?? parseMembers(value)
}

function parseMembers(value: Members): Node {
  const isOwned = Object.hasOwn(value, itself)
  const builder = new SetBuilder()
  let isCanonical = true
  for (const key of Object.keys(value)) {
    if (key === itself) continue
    const element = parseElement(key)
    if (element !== key) isCanonical = false
    if (element === undefined) continue
    const child = parseNode(value[key])
    if (!child.isCanonical) isCanonical = false
    builder.add(element, child.isMember, child.set)
  }
  const set = builder.build()
  if (isCanonical && set !== noFields) texts.set(set, isOwned ? without(value, itself) : (value as FieldsV1))
  return { set, isMember: isOwned || set === noFields, isCanonical }
}

function without(value: Members, key: string): FieldsV1 {
  const { [key]: _, ...rest } = value
  return rest as FieldsV1
}
