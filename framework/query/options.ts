import type { ListQuery, SentOptions, WatchQuery, WriteOptions } from '../contract/storage.ts'
import { badRequest, type FieldError, invalid, type StatusError } from '../meta/errors.ts'
import type { VerbRequest } from '../request/response.ts'

/** The values of `fieldValidation`, for unknown and duplicate fields in a body (rules.md 2.46). */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** The kinds of options, for errors (rules.md 2.33). */
export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions'

/** The parsed query of a write. */
export interface WriteRequest {
  readonly write: WriteOptions
  readonly fieldValidation: FieldValidation
}

/** A Boolean option; undefined if absent. `0` and `false` are false, everything else, also '', is true (rules.md 1.9). */
export function booleanOf(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name)
  return value === null ? undefined : !/^(0|false)$/i.test(value)
}

/** A decimal integer; undefined when absent. Throws 400 with the text of Go's parser (rules.md 2.32). */
export function integerOption(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  const parsing = `strconv.ParseInt: parsing ${JSON.stringify(value)}`
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`${parsing}: invalid syntax`)
  if (!Number.isSafeInteger(Number(value))) throw badRequest(`${parsing}: value out of range`)
  return Number(value)
}

const maxRevision = 2n ** 64n - 1n

/** A resourceVersion; undefined when empty or absent. Throws 400 unless it is a decimal 64-bit number (rules.md 4.11). */
export function readResourceVersion(value: string | null | undefined): number | undefined {
  if (!value) return undefined
  const isDecimal = /^\d+$/.test(value)
  if (isDecimal && BigInt(value) <= maxRevision) return Number(value)
  const quoted = JSON.stringify(value)
  const why = isDecimal ? 'value out of range' : 'invalid syntax'
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`,
  )
}

/** Throws 422 for invalid options (rules.md 2.33). */
export function refuseOptions(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidOptions(kind, errors)
}

const invalidOptions = (kind: OptionsKind, errors: readonly FieldError[]): StatusError =>
  invalid(kind, 'meta.k8s.io', '', errors)

const forbiddenOption = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  detail,
})

export const unsupportedOption = (
  field: string,
  value: unknown,
  supported: readonly string[],
): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  value,
  detail: `supported values: ${supported.map(text => JSON.stringify(text)).join(', ')}`,
})

/** Throws 400 for malformed numbers in the query of a list or watch, also for options that the verb ignores. */
export function checkNumbers(query: URLSearchParams): void {
  integerOption(query, 'timeoutSeconds')
  integerOption(query, 'limit')
}

/** The query of a list, without its selectors and scope. Throws 422 (rules.md 4.7 to 4.11). */
export function listOptions(
  query: URLSearchParams,
): Pick<ListQuery, 'limit' | 'continue' | 'resourceVersion' | 'match'> {
  const limit = integerOption(query, 'limit') ?? 0
  const resourceVersion = query.get('resourceVersion') ?? ''
  const token = query.get('continue') ?? ''
  refuseOptions('ListOptions', listErrors(query))
  const match = matchOf(query.get('resourceVersionMatch') ?? '', resourceVersion, limit > 0)
  return {
    ...(limit > 0 ? { limit } : {}),
    ...(token === '' ? {} : { continue: token }),
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    ...(match === undefined ? {} : { match }),
  }
}

/** Without `resourceVersionMatch`, a list with a limit and a resourceVersion is exact (rules.md 4.7d). */
function matchOf(match: string, resourceVersion: string, limited: boolean): ListQuery['match'] {
  if (match === 'Exact' || match === 'NotOlderThan') return match
  return limited && resourceVersion !== '' && resourceVersion !== '0' ? 'Exact' : undefined
}

function listErrors(query: URLSearchParams): readonly FieldError[] {
  const match = query.get('resourceVersionMatch') ?? ''
  const version = query.get('resourceVersion') ?? ''
  const refuse = (detail: string): FieldError => forbiddenOption('resourceVersionMatch', detail)
  const errors: FieldError[] = []
  if (match !== '' && version === '') {
    errors.push(refuse('resourceVersionMatch is forbidden unless resourceVersion is provided'))
  }
  if (match !== '' && (query.get('continue') ?? '') !== '') {
    errors.push(refuse('resourceVersionMatch is forbidden when continue is provided'))
  }
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(unsupportedOption('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']))
  }
  if (match === 'Exact' && version === '0') {
    errors.push(refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (query.has('sendInitialEvents')) {
    errors.push(forbiddenOption('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  return errors
}

/** The query of a watch, without its selectors and scope, and its timeout. */
export interface WatchOptions {
  readonly watch: Pick<WatchQuery, 'resourceVersion' | 'initialEvents' | 'bookmarks'>
  /** In seconds; 0: the server chooses (rules.md 1.41). */
  readonly timeoutSeconds: number
}

/** The query of a watch. Throws 422 (rules.md 4.36 to 4.39). */
export function watchOptions(query: URLSearchParams): WatchOptions {
  const resourceVersion = query.get('resourceVersion') ?? ''
  const asked = booleanOf(query, 'sendInitialEvents')
  refuseOptions('ListOptions', watchErrors(query))
  const fromNow = resourceVersion === '' || resourceVersion === '0'
  return {
    watch: {
      initialEvents: asked ?? fromNow,
      bookmarks: booleanOf(query, 'allowWatchBookmarks') ?? false,
      ...(resourceVersion === '' ? {} : { resourceVersion }),
    },
    timeoutSeconds: Math.max(0, integerOption(query, 'timeoutSeconds') ?? 0),
  }
}

/** Whether a watch begins with initial events (KEP-3157). */
const isWatchList = (query: URLSearchParams): boolean =>
  !query.has('sendInitialEvents') && ['', '0'].includes(query.get('resourceVersion') ?? '')

function watchErrors(query: URLSearchParams): readonly FieldError[] {
  const match = query.get('resourceVersionMatch') ?? ''
  const sendsInitial = query.has('sendInitialEvents')
  const refuse = (detail: string): FieldError => forbiddenOption('resourceVersionMatch', detail)
  const errors: FieldError[] = []
  if (sendsInitial && match !== 'NotOlderThan') {
    errors.push(refuse('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (!sendsInitial && match !== '') {
    errors.push(refuse('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  }
  if (match !== '' && match !== 'NotOlderThan') {
    errors.push(unsupportedOption('resourceVersionMatch', match, ['NotOlderThan']))
  }
  if (query.get('continue') && (match !== '' || isWatchList(query))) {
    errors.push(refuse('resourceVersionMatch is forbidden when continue is provided'))
  }
  return errors
}

const validations = ['', 'Ignore', 'Strict', 'Warn']

/** The query of a create, update or patch. Throws 422 (rules.md 2.33 to 2.36). */
export function writeOptions(kind: OptionsKind, { query, headers }: VerbRequest): WriteRequest {
  const isForced = kind === 'PatchOptions' && query.has('force')
  refuseOptions(kind, [
    ...(isForced ? [forbiddenOption('force', 'may not be specified for non-apply patch')] : []),
    ...writeErrors(query),
  ])
  return writeRequest(kind, query, managerOf(headers['user-agent'] ?? ''))
}

/** The parsed query of a server-side apply. */
export interface ApplyRequest extends WriteRequest {
  /** Takes fields from other managers instead of a conflict. */
  readonly force: boolean
}

/** The query of a server-side apply. Throws 422, for example without a manager (rules.md 2.37). */
export function applyOptions(query: URLSearchParams): ApplyRequest {
  const isNamed = (query.get('fieldManager') ?? '') !== ''
  const detail = 'is required for apply patch'
  refuseOptions('PatchOptions', [
    ...(isNamed ? [] : [{ type: 'FieldValueRequired' as const, field: 'fieldManager', detail }]),
    ...writeErrors(query),
  ])
  return { ...writeRequest('PatchOptions', query, ''), force: booleanOf(query, 'force') ?? false }
}

function writeErrors(query: URLSearchParams): readonly FieldError[] {
  const validation = query.get('fieldValidation') ?? ''
  return [
    ...managerErrors(query.get('fieldManager') ?? ''),
    ...dryRunErrors(query.getAll('dryRun')),
    ...(validations.includes(validation)
      ? []
      : [unsupportedOption('fieldValidation', validation, validations)]),
  ]
}

/** The options for admission (`meta.k8s.io/v1`). */
function sentOptions(kind: OptionsKind, query: URLSearchParams): SentOptions {
  const texts = ['fieldManager', 'fieldValidation'].flatMap(name =>
    query.get(name) ? [[name, query.get(name)] as const] : [],
  )
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...Object.fromEntries(texts),
  }
}

function writeRequest(kind: OptionsKind, query: URLSearchParams, manager: string): WriteRequest {
  const validation = query.get('fieldValidation') ?? ''
  return {
    write: {
      dryRun: query.has('dryRun'),
      fieldManager: query.get('fieldManager') || manager,
      asSent: sentOptions(kind, query),
    },
    fieldValidation: validation === 'Ignore' || validation === 'Strict' ? validation : 'Warn',
  }
}

/** The errors of `dryRun` values other than `All` (rules.md 2.34). */
export const dryRunErrors = (values: readonly string[]): readonly FieldError[] =>
  values.every(value => value === 'All') ? [] : [unsupportedOption('dryRun', values, ['All'])]

const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

function managerErrors(manager: string): readonly FieldError[] {
  const field = 'fieldManager'
  if (Buffer.byteLength(manager) > 128) {
    return [{ type: 'FieldValueTooLong', field, detail: 'may not be more than 128 bytes' }]
  }
  return [...manager.matchAll(unprintable)].map(({ 0: character, index }) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    const detail = `invalid character U+${code} (at position ${index})`
    return { type: 'FieldValueInvalid', field, value: manager, detail }
  })
}

/** The manager from a User-Agent: the text before the first `/`, at most 128 bytes (rules.md 5.19). */
function managerOf(userAgent: string): string {
  const program = (userAgent.split('/', 1)[0] ?? '').replace(unprintable, '')
  const cut = Buffer.from(program)
    .subarray(0, 128)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
  return cut === '' ? 'unknown' : cut
}
