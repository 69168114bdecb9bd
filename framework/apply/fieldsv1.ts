import { type Element, parseElement } from './fieldpath.ts'
import { type FieldSet, newFieldSet, noFields } from './fieldset.ts'
import { isMembers, type Members } from './values.ts'

/** `fieldsV1`: a field set as a tree of objects; `.` stands for the node itself (chapter 40, rules 5.21, 5.22). */
export type FieldsV1 = { readonly [element: string]: FieldsV1 }

const itself = '.'
const nothing: FieldsV1 = {}

/** Keys in the order of their bytes. */
export function formatFields({ members, children }: FieldSet): FieldsV1 {
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
}

/** Throws `SyntaxError` for what is no `fieldsV1`; unknown kinds of elements are skipped. */
export const parseFields = (value: unknown): FieldSet => parseNode(value).children ?? noFields

function parseNode(value: unknown): Node {
  if (!isMembers(value)) throw new SyntaxError('fieldsV1 is made of objects')
  const set = newFieldSet()
  let isUsed = false
  for (const [element, child] of elementsOf(value)) {
    const { children, isMember } = parseNode(child)
    if (isMember) set.members.add(element)
    if (children !== undefined) set.children.set(element, children as typeof set)
    isUsed = true
  }
  const children = isUsed ? set : undefined
  return { children, isMember: children === undefined || Object.hasOwn(value, itself) }
}

const elementsOf = (value: Members): readonly (readonly [Element, unknown])[] =>
  Object.entries(value).flatMap(([key, child]) => {
    const element = key === itself ? undefined : parseElement(key)
    return element === undefined ? [] : [[element, child] as const]
  })
