import type { Outcome } from './play.ts'
import type { Step } from './step.ts'

/** A difference that we know of and keep, and how to look past it in both answers. */
export interface Known {
  readonly reason: string
  readonly erase: (outcome: Outcome, step: Step) => Outcome
}

type Fields = Readonly<Record<string, unknown>>

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const without = (value: unknown, ...names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields(value)).filter(([name]) => !names.includes(name)))

/** Another text in the message of a Status. */
const rewritten = (outcome: Outcome, from: RegExp, to: string): Outcome => {
  const { message, ...body } = fields(outcome.body)
  return typeof message === 'string'
    ? { ...outcome, body: { ...body, message: message.replace(from, to) } }
    : outcome
}

/** Statuses that differ in code and reason, which are taken for the same. */
const taken = (outcome: Outcome, text: RegExp, to: string): Outcome =>
  outcome.status >= 400 && text.test(String(fields(outcome.body).message ?? ''))
    ? { ...outcome, status: 0, body: to }
    : outcome

const items = (outcome: Outcome, change: (item: unknown) => unknown): Outcome => {
  const body = fields(outcome.body)
  return Array.isArray(body.items)
    ? { ...outcome, body: { ...body, items: body.items.map(change) } }
    : outcome
}

/** A cause that only one of them gives; a message of several causes is no text to compare. */
function withoutCause(outcome: Outcome, text: string): Outcome {
  const { message, details, ...body } = fields(outcome.body)
  const { causes, ...about } = fields(details)
  if (!Array.isArray(causes)) return outcome
  const others = causes.filter(cause => !String(cause).includes(text))
  return {
    ...outcome,
    body: { ...body, ...(others.length > 1 && { message }), details: { ...about, causes: others } },
  }
}

function withoutRules(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRules)
  if (typeof value !== 'object' || value === null) return value
  const isEmpty = (field: unknown) => field === null || (Array.isArray(field) && field.length === 0)
  const kept = Object.entries(value).filter(
    ([name, field]) => !(name === 'rules' && isEmpty(field)) && name !== 'f:rules',
  )
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutRules(field)]))
}

/** One by one, with the reason why each stays. */
export const known: readonly Known[] = [
  {
    reason: 'kcp names application/apply-patch+yaml twice among the types of patches',
    erase: outcome => rewritten(outcome, /(, application\/apply-patch\+yaml)+$/, '$1'),
  },
  {
    reason: 'objects in lists of built-in kinds say their kind and version, so that each is whole by itself',
    erase: outcome => items(outcome, item => without(item, 'apiVersion', 'kind')),
  },
  {
    reason: 'a last page has no continue token, not an empty one',
    erase: outcome => {
      const { metadata, ...body } = fields(outcome.body)
      if (fields(metadata).continue !== '') return outcome
      return { ...outcome, body: { ...body, metadata: without(metadata, 'continue') } }
    },
  },
  {
    reason: 'a resourceVersion that is no number is the client’s mistake: 400, where kcp answers 500',
    erase: outcome => taken(outcome, /resourceVersion: Invalid value: "x"/, 'malformed resourceVersion'),
  },
  {
    reason: 'a resourceVersion on create is the client’s mistake: 400, where kcp answers 500',
    erase: outcome => taken(outcome, /^resourceVersion should not be set/, 'resourceVersion on create'),
  },
  {
    reason: 'a JSON patch that fails says which operation, and why, as a cause (chapter 40, rule 5.7)',
    erase: outcome => {
      const { details, ...body } = fields(outcome.body)
      const isOurs =
        outcome.status === 422 && String(body.message).startsWith('the server rejected our request')
      return isOurs ? { ...outcome, body: { ...body, details: without(details, 'causes') } } : outcome
    },
  },
  {
    reason: 'the answer to a dry run says the logical cluster too',
    erase: (outcome, { path }) => {
      const { metadata, ...body } = fields(outcome.body)
      const { annotations, ...rest } = fields(metadata)
      const others = without(annotations, 'kcp.io/cluster')
      if (!path.includes('dryRun') || fields(metadata).uid === undefined) return outcome
      const kept = Object.keys(others).length === 0 ? rest : { ...rest, annotations: others }
      return { ...outcome, body: { ...body, metadata: kept } }
    },
  },
  {
    reason: 'Go’s name for its scheme is not in our messages',
    erase: outcome =>
      rewritten(
        outcome,
        /^(no kind "Other" is registered|decoded object cannot be converted).*/,
        'not DeleteOptions',
      ),
  },
  {
    reason: 'members of metadata are named as they are written, below metadata',
    erase: outcome =>
      rewritten(
        outcome,
        /Go (struct field ObjectMeta\.metadata|value) of type v1\.ObjectMeta|ObjectMeta\.metadata(?=\.)/,
        'ObjectMeta',
      ),
  },
  {
    reason: 'rules are checked although metadata is wrong: all errors at once',
    erase: outcome => withoutCause(outcome, 'some validation rules were not checked'),
  },
  {
    reason: 'a continue token is opaque, and so is what is wrong with it',
    erase: outcome =>
      rewritten(
        outcome,
        /^(invalid continue token: )?continue key is not valid: .*/,
        'continue key is not valid',
      ),
  },
  {
    reason: 'an object asked for as a list is not acceptable: 406, where kcp answers 500',
    erase: outcome =>
      taken(outcome, /content is not a list|the requested object is not a list/, 'not a list'),
  },
  {
    reason: 'a body that is no object, and a version that is none, is told in words of its own',
    erase: outcome =>
      taken(
        outcome,
        /^the object provided is unrecognized|into Go value of type map|^the API version in the data|no kind ".*" is registered/,
        'unrecognized',
      ),
  },
  {
    reason: 'columns of built-in kinds are described in our words, and ages pass',
    erase: outcome => {
      const { columnDefinitions, rows, ...body } = fields(outcome.body)
      return columnDefinitions === undefined ? outcome : { ...outcome, body }
    },
  },
  {
    reason: 'a role without rules has none, not null: nobody owns them',
    erase: (outcome, { path }) =>
      path.includes('/roles') ? { ...outcome, body: withoutRules(outcome.body) } : outcome,
  },
  {
    reason: 'details of a refusal name the kind that is served: not the one that was sent, not the resource',
    erase: outcome => {
      const { details, ...body } = fields(outcome.body)
      const isKind = /is invalid: kind: Invalid value|must be specified for an update/.test(
        String(body.message),
      )
      return isKind ? { ...outcome, body: { ...body, details: without(details, 'kind') } } : outcome
    },
  },
  {
    reason: 'lists have no Go type here that a message could name',
    erase: outcome => rewritten(outcome, /object is a list \(.*\)/, 'object is a list'),
  },
  {
    reason: 'one text for 406, of built-in kinds too',
    erase: outcome =>
      taken(outcome, /^only the following media types|^406: Not Acceptable/, 'not acceptable'),
  },
  {
    reason: 'an error in status names the whole path, also at /status',
    erase: outcome => {
      const { details, ...body } = fields(outcome.body)
      const causes = fields(details).causes
      if (!Array.isArray(causes)) return outcome
      const whole = causes.map(cause => String(cause).replace(': status.', ': '))
      const shorter = { ...outcome, body: { ...body, details: { ...fields(details), causes: whole } } }
      return rewritten(shorter, /: status\.(?=\S+ in body)/, ': ')
    },
  },
  {
    reason: 'keys of the storage are not in our messages',
    erase: outcome => rewritten(outcome, /StorageError: .*AdditionalErrorMsg: /, ''),
  },
  {
    reason: 'the words of the JSON reader are Node’s',
    erase: outcome => rewritten(outcome, /json parse error: .* \(/, 'json parse error: ('),
  },
]

/** An answer without what is known to differ. */
export const pastKnown = (outcome: Outcome, step: Step): Outcome =>
  known.reduce((rest, { erase }) => erase(rest, step), outcome)
