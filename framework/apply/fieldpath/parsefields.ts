import { atOnce, Work } from '../../json/json.ts'
import { keysOf } from '../../json/values.ts'
import { isMembers, type Members, parseElement } from './fieldpath.ts'
import {
  type FieldSet,
  type FieldsV1,
  itself,
  noFields,
  rememberSet,
  SetBuilder,
  type SetSteps,
  setOfText,
} from './fieldset.ts'
import { Leaves } from './leaves.ts'

interface Node {
  readonly set: FieldSet
  readonly isMember: boolean
  /** All elements are canonical. */
  readonly isCanonical: boolean
}

/** Throws `SyntaxError` for invalid `fieldsV1`; unknown kinds of elements are ignored. */
export const parseFields = (value: unknown): FieldSet => atOnce(parseSteps(value, new Work()))

/** What `parseFields` returns, in steps. */
export function* parseSteps(value: unknown, work: Work): SetSteps {
  const known = isMembers(value) ? setOfText(value) : undefined
  if (known !== undefined) return known
  const { set } = yield* parseNode(value, work)
  if (isMembers(value)) rememberSet(value, set)
  return set
}

const leaves = new Leaves<Node>()

function* parseNode(value: unknown, work: Work): Generator<void, Node> {
  if (!isMembers(value)) throw new SyntaxError('fieldsV1 is made of objects')
  const keys = keysOf(value)
  const leaf = leaves.of(value, keys, () => atOnce(parseMembers(value, keys, work)))
  return leaf ?? (yield* parseMembers(value, keys, work))
}

function* parseMembers(value: Members, keys: readonly string[], work: Work): Generator<void, Node> {
  const isOwned = Object.hasOwn(value, itself)
  const builder = new SetBuilder()
  let isCanonical = true
  for (const key of keys) {
    if (work.isStepDone()) yield
    if (key === itself) continue
    const element = parseElement(key)
    if (element !== key) isCanonical = false
    if (element === undefined) continue
    const child = yield* parseNode(value[key], work)
    if (!child.isCanonical) isCanonical = false
    builder.add(element, child.isMember, child.set)
  }
  const set = builder.build()
  if (isCanonical && set !== noFields) set[isOwned ? 'textWithItself' : 'text'] = value as FieldsV1
  return { set, isMember: isOwned || set === noFields, isCanonical }
}
