import { Work } from '../json/json.ts'
import type { KubeObject } from '../meta/object.ts'
import { canonicalText } from './canonicaltext.ts'
import { type Conflict, ConflictError } from './conflict.ts'
import { isMembers, type Members } from './fieldpath/fieldpath.ts'
import { differenceSteps, type FieldSet, isEmpty, unionSteps } from './fieldpath/fieldset.ts'
import { comparisonSteps } from './typed/compare.ts'
import { fieldSetSteps } from './typed/tofieldset.ts'
import { type MergeType, TypedError } from './typed/types.ts'
import { validationSteps } from './typed/validate.ts'

/** The annotation with the configuration that a client-side apply has applied. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The manager whose server-side applies take over the fields of its client-side applies (rules.md 5.55). */
export const kubectl = 'kubectl'

const annotationsLimit = 262_144

const annotationsOf = (object: Members): Members => {
  const { metadata } = object
  const annotations = isMembers(metadata) ? metadata.annotations : undefined
  return isMembers(annotations) ? annotations : {}
}

const lastAppliedOf = (object: Members): string => {
  const text = annotationsOf(object)[lastAppliedAnnotation]
  return typeof text === 'string' ? text : ''
}

/**
 * Ignores conflicts about fields that have the value in the annotation: the same client has set them. Throws a
 * `ConflictError` with the other conflicts, if any (`lastappliedmanager.go`). In steps.
 */
export function* checkLastApplied(error: ConflictError, live: Members, type: MergeType): Generator<void> {
  const work = new Work()
  const allowed = yield* lastAppliedFields(live, type, work)
  if (allowed === undefined) throw error
  const others: Conflict[] = []
  for (const { manager, fields } of error.conflicts) {
    const left = yield* differenceSteps(fields, allowed, work)
    if (!isEmpty(left)) others.push({ manager, fields: left })
  }
  if (others.length > 0) throw new ConflictError(others)
}

/**
 * The fields of the annotation that the object still has with the same values; undefined without a valid annotation.
 */
function* lastAppliedFields(
  live: Members,
  type: MergeType,
  work: Work,
): Generator<void, FieldSet | undefined> {
  const config = parse(lastAppliedOf(live))
  if (config === undefined || config.apiVersion !== live.apiVersion) return undefined
  try {
    yield* validationSteps(type, config)
    const { removed, modified, added } = yield* comparisonSteps(type, config, live)
    const set = yield* unionSteps(modified, added, work)
    const other = yield* unionSteps(set, removed, work)
    return yield* differenceSteps(yield* fieldSetSteps(type, config, work), other, work)
  } catch (error) {
    if (error instanceof TypedError) return undefined
    throw error
  }
}

function parse(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMembers(value) ? value : undefined
  } catch {
    return undefined
  }
}

const escapes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }

/** Updates the annotation of an object that has it (`lastappliedupdater.go`). In steps. */
export function* withLastApplied(object: KubeObject, config: Members): Generator<void, KubeObject> {
  if (lastAppliedOf(object) === '') return object
  const { [lastAppliedAnnotation]: _, ...others } = object.metadata.annotations ?? {}
  const annotations = withText(others, yield* canonicalText(withoutLastApplied(config), annotationsLimit))
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** `text`: undefined if it is too long. */
function withText(
  others: Readonly<Record<string, string>>,
  text: string | undefined,
): Readonly<Record<string, string>> {
  if (text === undefined) return others
  const escaped = `${text.replace(/[<>&]/g, c => escapes[c] ?? c)}\n`
  const annotations = { ...others, [lastAppliedAnnotation]: escaped }
  return sizeOf(annotations) > annotationsLimit ? others : annotations
}

function withoutLastApplied(config: Members): Members {
  const { metadata } = config
  if (!isMembers(metadata) || !isMembers(metadata.annotations)) return config
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations
  return { ...config, metadata: { ...metadata, annotations } }
}

const sizeOf = (texts: Readonly<Record<string, string>>): number =>
  Object.entries(texts).reduce(
    (sum, pair) => sum + Buffer.byteLength(pair[0]) + Buffer.byteLength(pair[1]),
    0,
  )
