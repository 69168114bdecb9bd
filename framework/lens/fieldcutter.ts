import { fieldElement, type PathElement } from '../apply/fieldpath/fieldpath.ts'
import { type Item, itemFrom } from '../contract/item.ts'
import {
  type Cut,
  cutOf,
  elementsIn,
  hasKey,
  type JsonSpan,
  membersIn,
  withoutCuts,
} from '../json/members.ts'

/** A step of a path of fields: the key of an object, or each item of a list or value of a map. */
export type FieldStep = { readonly key: string } | 'each'

/** The keys of a path in `fieldsV1` of managed fields. A list with fields in its items counts as a whole. */
export function managedKeys(steps: readonly FieldStep[]): readonly PathElement[] {
  const end = steps.indexOf('each')
  const keys = steps.slice(0, end < 0 ? undefined : end)
  return keys.map(step => (step === 'each' ? '' : fieldElement(step.key)))
}

type Encoded = Required<Pick<Item, 'bytes' | 'offsets'>>
type Step = Buffer | 'each'

const openingBrace = 0x7b
const openingBracket = 0x5b
const comma = 0x2c
const keyOf = (text: string): Buffer => Buffer.from(JSON.stringify(text))
const names = {
  managedFields: keyOf('managedFields'),
  apiVersion: keyOf('apiVersion'),
  fieldsV1: keyOf('fieldsV1'),
}

/** Keys that each encoder of JSON writes in the same way. */
const isPlain = (step: FieldStep): boolean => step === 'each' || /^[\w./-]+$/.test(step.key)
const canCut = (steps: readonly FieldStep[]): boolean => {
  const [first] = steps
  return steps.every(isPlain) && first !== undefined && first !== 'each' && first.key !== 'metadata'
}

/** Removes fields outside of metadata from items, and their owners from managed fields, in the bytes. */
export class FieldCutter {
  readonly #paths: readonly (readonly Step[])[]
  /** The `managedKeys` of the paths. */
  readonly #managed: readonly (readonly Buffer[])[]
  readonly #isPossible: boolean

  /** The paths do not end with `each`. */
  constructor(paths: readonly (readonly FieldStep[])[]) {
    this.#isPossible = paths.every(canCut)
    this.#paths = paths.map(steps => steps.map(step => (step === 'each' ? step : keyOf(step.key))))
    this.#managed = paths.map(steps => managedKeys(steps).map(keyOf))
  }

  /** The same item if it has none of the fields; undefined if it must be decoded. */
  cut(item: Item): Item | undefined {
    const { offsets, bytes } = item
    if (!this.#isPossible || offsets === undefined) return undefined
    const cut = this.#paths.reduce<Encoded>(withoutField, { bytes, offsets })
    const owned = this.#managed.reduce<Encoded | undefined>(withoutOwner, cut)
    return owned?.bytes === bytes ? item : owned && itemFrom(owned, item.key)
  }
}

/** `cuts` are in their order. */
function cutOut({ bytes, offsets }: Encoded, cuts: readonly Cut[]): Encoded {
  const before = cuts.filter(([from]) => from < offsets.end)
  const end = before.reduce((at, [from, to]) => at - (to - from), offsets.end)
  return { bytes: withoutCuts(bytes, cuts), offsets: { ...offsets, end } }
}

function withoutField(encoded: Encoded, steps: readonly Step[]): Encoded {
  const { bytes, offsets } = encoded
  if (bytes[offsets.end + 1] !== comma) return encoded
  const cuts: Cut[] = []
  addCuts(bytes, membersIn(bytes, offsets.end + 2), steps, cuts)
  return cuts.length === 0 ? encoded : cutOut(encoded, cuts)
}

function addCuts(
  bytes: Buffer,
  parts: Iterable<JsonSpan>,
  [step, ...rest]: readonly Step[],
  cuts: Cut[],
): void {
  for (const part of parts) {
    if (step !== 'each' && !(step && hasKey(bytes, part, step))) continue
    if (rest.length === 0) cuts.push(cutOf(bytes, part))
    else addCuts(bytes, partsOf(bytes, part, rest[0]), rest, cuts)
    if (step !== 'each') return
  }
}

/** The parts of a value in which a step can be. */
function partsOf(bytes: Buffer, { value }: JsonSpan, step: Step | undefined): Iterable<JsonSpan> {
  if (bytes[value] === openingBrace) return membersIn(bytes, value + 1)
  return step === 'each' && bytes[value] === openingBracket ? elementsIn(bytes, value + 1) : []
}

const member = (bytes: Buffer, start: number, key: Buffer): JsonSpan | undefined => {
  for (const each of membersIn(bytes, start)) if (hasKey(bytes, each, key)) return each
  return undefined
}

/** undefined for entries that would be removed as a whole, and for unusual ones. */
function withoutOwner(encoded: Encoded | undefined, keys: readonly Buffer[]): Encoded | undefined {
  if (encoded === undefined) return undefined
  const { bytes, offsets } = encoded
  const managed = member(bytes, offsets.rest, names.managedFields)
  if (managed === undefined) return encoded
  const own = member(bytes, 1, names.apiVersion)
  const cuts: Cut[] = []
  for (const entry of elementsIn(bytes, managed.value + 1)) {
    const cut = own && ownerCut(bytes, { entry, own }, keys)
    if (cut === undefined) return undefined
    cuts.push(...cut)
  }
  return cuts.length === 0 ? encoded : cutOut(encoded, cuts)
}

interface ManagedEntry {
  readonly entry: JsonSpan
  /** The apiVersion of the object. */
  readonly own: JsonSpan
}

/** Entries for another version are removed. */
function ownerCut(
  bytes: Buffer,
  { entry, own }: ManagedEntry,
  keys: readonly Buffer[],
): readonly Cut[] | undefined {
  if (bytes[entry.value] !== openingBrace) return undefined
  const version = member(bytes, entry.value + 1, names.apiVersion)
  const fields = member(bytes, entry.value + 1, names.fieldsV1)
  if (version === undefined || fields === undefined) return undefined
  const isOwn = bytes.compare(bytes, own.value, own.to, version.value, version.to) === 0
  return isOwn && bytes[fields.value] === openingBrace ? cutBelow(bytes, fields, keys) : undefined
}

/** A field without other fields beside it is removed with its parent; undefined if nothing would be left. */
function cutBelow(bytes: Buffer, fields: JsonSpan, keys: readonly Buffer[]): readonly Cut[] | undefined {
  let removed: JsonSpan | undefined
  let parent = fields
  for (const key of keys) {
    const all = [...membersIn(bytes, parent.value + 1)]
    const found = all.find(each => hasKey(bytes, each, key))
    if (found === undefined || bytes[found.value] !== openingBrace) return []
    if (all.length > 1) removed = found
    parent = found
  }
  return removed && [cutOf(bytes, removed)]
}
