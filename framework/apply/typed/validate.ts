import { goText, goType } from '../../json/gotext.ts'
import { atOnce, Findings, Work } from '../../json/json.ts'
import {
  fieldElement,
  isList,
  isMembers,
  isNumber,
  isScalar,
  type List,
  type Members,
  type PathElement,
  printElement,
  printPath,
} from '../fieldpath/fieldpath.ts'
import { knownElementsOf, nameless, namelessText } from './elements.ts'
import {
  branchOf,
  type ListType,
  type MapType,
  type MergeType,
  type Misfit,
  type Scalar,
  TypedError,
} from './types.ts'

/**
 * Checks that an applied value fits its type (`typed.AsTyped`; rules.md 5.44): throws a `TypedError` for values of
 * another type, undeclared fields, and items with the same key. Null fits every type.
 */
export const validate = (type: MergeType, value: unknown): void => atOnce(validationSteps(type, value))

/** What `validate` does, in steps. */
export function* validationSteps(type: MergeType, value: unknown): Generator<void, void> {
  const walk: Walk = { steps: [], misfits: new Findings(), work: new Work() }
  yield* visit(type, value, walk)
  if (walk.misfits.all.length > 0) throw new TypedError(walk.misfits.all)
}

interface Walk {
  readonly steps: PathElement[]
  readonly misfits: Findings<Misfit>
  readonly work: Work
}

function misfit({ steps, misfits }: Walk, text: string): void {
  if (misfits.isFull) return
  const path = printPath(steps)
  misfits.add({ path, text }, path.length + text.length)
}

function* visit(type: MergeType, value: unknown, walk: Walk): Generator<void> {
  if (walk.work.isStepDone()) yield
  if (value === null || value === undefined) return
  const branch = branchOf(type, value)
  if (branch === 'scalar') visitScalar(type.scalar ?? 'untyped', value, walk)
  else if (branch === 'map' && isMembers(value)) yield* visitMembers(type.map, value, walk)
  else if (branch === 'list' && isList(value)) yield* visitItems(type.list, value, walk)
  else misfit(walk, `expected ${branch}, got ${pointer(value)}`)
}

/** The wrapper of a value as Go prints it. */
const pointer = (value: unknown): string => `&{${goText(value)}}`

function visitScalar(scalar: Scalar, value: unknown, walk: Walk): void {
  if (scalar === 'numeric' && !isNumber(value))
    misfit(walk, `expected numeric (int or float), got ${goType(value)}`)
  else if (scalar === 'string' && typeof value !== 'string')
    misfit(walk, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
  else if (scalar === 'boolean' && typeof value !== 'boolean')
    misfit(walk, `expected boolean, got ${pointer(value)}`)
  else if (!isScalar(value)) misfit(walk, `expected any scalar, got ${pointer(value)}`)
}

/** Decoded JSON as Go prints it with `%#v`. */
function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)'
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isMembers(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `map[string]interface {}{${members.map(([key, v]) => `${JSON.stringify(key)}:${goSyntax(v)}`).join(', ')}}`
}

/** The first undeclared field ends the check of its object. */
function* visitMembers(map: MapType | undefined, members: Members, walk: Walk): Generator<void> {
  for (const key of Object.keys(members)) {
    const type = map?.member(key)
    walk.steps.push(fieldElement(key))
    if (type === undefined) misfit(walk, 'field not declared in schema')
    else yield* visit(type, members[key], walk)
    walk.steps.pop()
    if (type === undefined) return
  }
}

function* visitItems(list: ListType | undefined, items: List, walk: Walk): Generator<void> {
  if (list === undefined) return
  const elements = list.isAtomic ? undefined : knownElementsOf(list, items)
  const seen = new Set<PathElement>()
  for (const [i, item] of items.entries()) {
    const element = elements?.[i] ?? `i:${i}`
    if (element === nameless) misfit(walk, namelessText(list, item, i))
    else if (seen.has(element)) misfit(walk, `duplicate entries for key ${printElement(element)}`)
    seen.add(element)
    walk.steps.push(element)
    if (element !== nameless) yield* visit(list.item, item, walk)
    walk.steps.pop()
  }
}
