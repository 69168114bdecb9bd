import { type Element, parseElement } from './fieldpath.ts'
import { type FieldSet, newFieldSet, noFields } from './fieldset.ts'
import { isMembers, type Members } from './values.ts'

/** `fieldsV1`: a field set as a tree of objects; `.` stands for the node itself (chapter 40, rules 5.21, 5.22). */
export type FieldsV1 = { readonly [element: string]: FieldsV1 }

const itself = '.'
const nothing: FieldsV1 = {}

/** What sets were read from, without `.`: most parts of a set are written as they were read. */
const sources = new WeakMap<FieldSet, FieldsV1>()

/** Keys in the order of their bytes. */
export function formatFields(set: FieldSet): FieldsV1 {
  const known = sources.get(set)
  if (known !== undefined) return known
  const { members, children } = set
  const elements = [...new Set([...members, ...children.keys()])].sort()
  return Object.fromEntries(
    elements.map((element): [Element, FieldsV1] => {
      const child = children.get(element)
      if (child === undefined) return [element, nothing]
      const fields = formatFields(child)
      return [element, members.has(element) ? { [itself]: nothing, ...fields } : fields]
    }),
  )
}

interface Node {
  /** undefined: there is nothing below. */
  readonly children: FieldSet | undefined
  readonly isMember: boolean
  /** Everything in it has the one form that it would be written in. */
  readonly isCanonical: boolean
}

/** Throws `SyntaxError` for what is no `fieldsV1`; unknown kinds of elements are skipped. */
export const parseFields = (value: unknown): FieldSet => parseNode(value).children ?? noFields

function parseNode(value: unknown): Node {
  if (!isMembers(value)) throw new SyntaxError('fieldsV1 is made of objects')
  const set = newFieldSet()
  const isOwned = Object.hasOwn(value, itself)
  let isCanonical = true
  for (const key of Object.keys(value)) {
    const element = key === itself ? undefined : parseElement(key)
    if (element !== key && key !== itself) isCanonical = false
    if (element === undefined) continue
    const child = parseNode(value[key])
    if (!child.isCanonical) isCanonical = false
    if (child.isMember) set.members.add(element)
    if (child.children !== undefined) set.children.set(element, child.children as typeof set)
  }
  const isEmpty = set.members.size === 0 && set.children.size === 0
  if (isCanonical && !isEmpty) sources.set(set, isOwned ? without(value, itself) : (value as FieldsV1))
  return { children: isEmpty ? undefined : set, isMember: isEmpty || isOwned, isCanonical }
}

function without(value: Members, key: string): FieldsV1 {
  const { [key]: _, ...rest } = value
  return rest as FieldsV1
}
