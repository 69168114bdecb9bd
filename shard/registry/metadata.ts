import { isDeepStrictEqual } from 'node:util'
import { canonicalJson } from '../../framework/json/json.ts'
import type { FieldError, FieldErrorType } from '../../framework/meta/errors.ts'
import { labelValueErrors, qualifiedNameErrors } from '../../framework/meta/names.ts'
import {
  controllersProblem,
  type KubeObject,
  type Metadata,
  type OwnerReference,
  ownerProblems,
} from '../../framework/meta/object.ts'
import { foregroundFinalizer, orphanFinalizer, type ResourceStrategy, withMetadata } from './strategy.ts'

const annotationsLimit = 262_144

const fieldError = (type: FieldErrorType, field: string, detail: string, value?: unknown): FieldError =>
  value === undefined ? { type, field, detail } : { type, field, detail, value }

const invalidValues = (field: string, value: unknown, details: readonly string[]): readonly FieldError[] =>
  details.map(detail => fieldError('FieldValueInvalid', field, detail, value))

/** Errors of one list after which it is not read further: an object has room for ten thousands, whose texts take long. */
const mostErrors = 100

function firstErrors<T>(
  items: readonly T[],
  errorsOf: (item: T, index: number) => readonly FieldError[],
): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [i, item] of items.entries()) {
    errors.push(...errorsOf(item, i))
    if (errors.length >= mostErrors) break
  }
  return errors
}

/** Errors of the metadata of a new object, with its name: `ValidateObjectMeta` (rules.md 3.5 to 3.7). */
export const newMetadataErrors = (strategy: ResourceStrategy, object: KubeObject): readonly FieldError[] => [
  ...nameErrors(strategy, object.metadata),
  ...metadataErrors(strategy, object),
]

/** Errors of metadata without the name (rules.md 3.12 to 3.19). */
export function metadataErrors(strategy: ResourceStrategy, object: KubeObject): readonly FieldError[] {
  const { metadata } = object
  return [
    ...namespaceErrors(strategy, metadata),
    ...labelErrors(metadata.labels),
    ...annotationErrors(metadata.annotations),
    ...ownerErrors(metadata.ownerReferences ?? []),
    ...finalizerErrors(strategy, metadata.finalizers ?? []),
    ...managerErrors(metadata.managedFields ?? []),
  ]
}

function nameErrors(strategy: ResourceStrategy, { name, generateName }: Metadata): readonly FieldError[] {
  const { rest } = strategy
  const prefix = generateName
    ? invalidValues('metadata.generateName', generateName, rest.nameErrors(generateName, 'generateName'))
    : []
  if (name) return [...prefix, ...invalidValues('metadata.name', name, rest.nameErrors(name, 'name'))]
  return [...prefix, fieldError('FieldValueRequired', 'metadata.name', 'name or generateName is required')]
}

const namespaceErrors = (strategy: ResourceStrategy, { namespace }: Metadata): readonly FieldError[] =>
  strategy.namespaced && !namespace ? [fieldError('FieldValueRequired', 'metadata.namespace', '')] : []

export const labelErrors = (labels: Metadata['labels'] = {}): readonly FieldError[] =>
  firstErrors(Object.entries(labels), ([key, value]) => [
    ...invalidValues('metadata.labels', key, qualifiedNameErrors(key)),
    ...invalidValues('metadata.labels', value, labelValueErrors(value)),
  ])

export function annotationErrors(annotations: Metadata['annotations'] = {}): readonly FieldError[] {
  const entries = Object.entries(annotations)
  const size = entries.reduce((sum, pair) => sum + Buffer.byteLength(pair[0]) + Buffer.byteLength(pair[1]), 0)
  const tooLong = fieldError(
    'FieldValueTooLong',
    'metadata.annotations',
    `may not be more than ${annotationsLimit} bytes`,
  )
  const keys = firstErrors(entries, ([key]) =>
    invalidValues('metadata.annotations', key, qualifiedNameErrors(key.toLowerCase())),
  )
  return size > annotationsLimit ? [...keys, tooLong] : keys
}

const longestManager = 128
const longestSubresource = 256

/** Errors of managedFields that a client sent (rules.md 3.18). */
const managerErrors = (entries: NonNullable<Metadata['managedFields']>): readonly FieldError[] =>
  firstErrors(entries, (entry, i) => {
    const { manager, subresource } = entry as { readonly manager?: string; readonly subresource?: string }
    return [
      ...tooLong(`metadata.managedFields[${i}].manager`, manager, longestManager),
      ...tooLong(`metadata.managedFields[${i}].subresource`, subresource, longestSubresource),
    ]
  })

const tooLong = (field: string, text = '', limit: number): readonly FieldError[] =>
  Buffer.byteLength(text) > limit
    ? [fieldError('FieldValueTooLong', field, `may not be more than ${limit} bytes`)]
    : []

function ownerErrors(owners: readonly OwnerReference[]): readonly FieldError[] {
  const path = 'metadata.ownerReferences'
  // Kubernetes reports the list without an index.
  const each = firstErrors(owners, owner =>
    ownerProblems(owner).flatMap(([field, problem]) =>
      invalidValues(field ? `${path}.${field}` : path, field ? (owner[field] ?? '') : owner, [problem]),
    ),
  )
  const together = controllersProblem(owners)
  return together === undefined ? each : [...each, ...invalidValues(path, owners, [together])]
}

const standardFinalizers = ['kubernetes', orphanFinalizer, foregroundFinalizer]

/** Groups whose kinds accept the finalizers that custom resources accept. */
const generic: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
])

/** Built-in kinds accept standard and qualified finalizers only (rules.md 3.16). */
function foreignErrors(
  { group, rest }: ResourceStrategy,
  finalizers: readonly string[],
): readonly FieldError[] {
  if (rest.custom || generic.has(group)) return []
  return firstErrors(finalizers, (f, i) => invalidValues(`metadata.finalizers[${i}]`, f, foreignFinalizer(f)))
}

/** Errors of a finalizer that is neither qualified nor a standard one. */
export const foreignFinalizer = (name: string): readonly string[] =>
  name.includes('/') || standardFinalizers.includes(name)
    ? []
    : ['name is neither a standard finalizer name nor is it fully qualified']

function finalizerErrors(strategy: ResourceStrategy, finalizers: readonly string[]): readonly FieldError[] {
  const each = [
    ...firstErrors(finalizers, f => invalidValues('metadata.finalizers', f, qualifiedNameErrors(f))),
    ...foreignErrors(strategy, finalizers),
  ]
  const both = finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)
  const text = `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`
  return both ? [...each, ...invalidValues('metadata.finalizers', finalizers, [text])] : each
}

const immutable = ['uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

/** Errors of the metadata of an update: most built-in kinds check the name again. */
export const changedMetadataErrors = (
  strategy: ResourceStrategy,
  object: KubeObject,
): readonly FieldError[] =>
  strategy.rest.custom || strategy.group === 'coordination.k8s.io'
    ? metadataErrors(strategy, object)
    : newMetadataErrors(strategy, object)

/**
 * Errors of changed metadata: immutable fields, and finalizers that are added after the deletion began (rules.md 3.24,
 * 3.25).
 */
export function metadataUpdateErrors(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const fixed = immutable
    .filter(field => !isDeepStrictEqual(next.metadata[field], old.metadata[field]))
    .flatMap(field => invalidValues(`metadata.${field}`, next.metadata[field], ['field is immutable']))
  if (old.metadata.deletionTimestamp === undefined) return fixed
  const added = newFinalizers(next, old)
  if (added.length === 0) return fixed
  const list = `[]string{${added.map(f => JSON.stringify(f)).join(', ')}}`
  const text = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`
  return [...fixed, fieldError('FieldValueForbidden', 'metadata.finalizers', text)]
}

function newFinalizers(next: KubeObject, old?: KubeObject): readonly string[] {
  const known = new Set(old?.metadata.finalizers ?? [])
  return (next.metadata.finalizers ?? []).filter(f => !known.has(f))
}

/** Warnings about new finalizers of custom resources without a domain (rules.md 3.16). */
export function finalizerWarnings(
  strategy: ResourceStrategy,
  next: KubeObject,
  old?: KubeObject,
): readonly string[] {
  if (!strategy.rest.custom) return []
  const reserved = [orphanFinalizer, foregroundFinalizer]
  return newFinalizers(next, old)
    .filter(f => !f.includes('/') && !reserved.includes(f))
    .map(f => {
      const better = f.includes('.') ? 'name including a path (/)' : 'name'
      return `metadata.finalizers: "${f}": prefer a domain-qualified finalizer ${better} to avoid accidental conflicts with other finalizer writers`
    })
}

/**
 * When ownerReferences are deduplicated: before admission, or after it, because admission or a patch may repeat some.
 */
type Phase = 'as sent' | 'after admission'

/** Drops repeated ownerReferences, with a warning (rules.md 3.15). */
export function dedupOwners(
  object: KubeObject,
  phase: Phase = 'as sent',
): { object: KubeObject; warning?: string } {
  const owners = object.metadata.ownerReferences ?? []
  const kept = new Map<string, OwnerReference>()
  const repeated = new Set<string>()
  for (const owner of owners) {
    const text = canonicalJson(owner)
    if (kept.has(text)) repeated.add(owner.uid)
    else kept.set(text, owner)
  }
  if (repeated.size === 0) return { object }
  const when = phase === 'as sent' ? '' : ' after mutating admission happens'
  const warning =
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may ` +
    'reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ' +
    [...repeated].join(', ')
  return { object: withMetadata(object, { ownerReferences: [...kept.values()] }), warning }
}
