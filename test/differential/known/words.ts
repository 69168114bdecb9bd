import type { Known } from '../erasing.ts'
import { fields, rewritten, taken, textOf, without, withoutCause } from '../erasing.ts'

/** Messages and codes of refusals. */
export const knownOfWords: readonly Known[] = [
  {
    reason: 'a resourceVersion that is no number is the client’s mistake: 400, where kcp answers 500',
    erase: outcome => taken(outcome, /resourceVersion: Invalid value: "[^"]*"/, 'malformed resourceVersion'),
  },
  {
    reason: 'a resourceVersion on create is the client’s mistake: 400, where kcp answers 500',
    erase: outcome => taken(outcome, /^resourceVersion should not be set/, 'resourceVersion on create'),
  },
  {
    reason: 'a JSON patch that fails says which operation, and why, as a cause (rules.md 5.7)',
    erase: outcome => {
      const { details, ...body } = fields(outcome.body)
      const isOurs =
        outcome.status === 422 && String(body.message).startsWith('the server rejected our request')
      return isOurs ? { ...outcome, body: { ...body, details: without(details, 'causes') } } : outcome
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
        /(Go struct field \w+\.metadata of type v1\.|Go value of type v1\.)?ObjectMeta(\.metadata(?=\.))?/,
        'ObjectMeta',
      ),
  },
  {
    reason: 'rules are checked although metadata is wrong: all errors at once',
    erase: outcome => withoutCause(outcome, 'some validation rules were not checked'),
  },
  {
    reason: 'a body that is no object, and a version that is none, is told in words of its own',
    erase: outcome =>
      taken(
        outcome,
        /^the object provided is unrecognized|no kind is registered for the type v1.Scale|into Go value of type map|^the API version in the data|no kind ".*" is registered|accessor error: <nil>/,
        'unreadable',
      ),
  },
  {
    reason: 'details of a refusal name the kind that is served: not the one that was sent, not the resource',
    erase: outcome => {
      const { details, ...body } = fields(outcome.body)
      const isKind = /"field":"kind"|must be specified for an update/.test(textOf(outcome))
      return isKind ? { ...outcome, body: { ...body, details: without(details, 'kind') } } : outcome
    },
  },
  {
    reason: 'lists have no Go type here that a message could name',
    erase: outcome => rewritten(outcome, /object is a list \(.*\)/, 'object is a list'),
  },
  {
    reason: 'an error in status names the whole path, also at /status',
    erase: outcome => rewritten(outcome, /: status\.(?=\S+ in body)/, ': '),
  },
  {
    reason: 'what is no object, or no patch, is refused with 400 in our words',
    erase: (outcome, { about }) => {
      const isRaw = about.includes('create from') && (outcome.status === 400 || outcome.status === 422)
      const refused = isRaw ? { ...outcome, status: 0, body: 'unreadable' } : outcome
      return taken(
        refused,
        /Invalid JSON Patch|into Go value of type (\[\]handlers\.jsonPatchOp|jsonpatch\.Patch)/,
        'unreadable',
      )
    },
  },
  {
    reason: 'a nameless PATCH is refused before its body is looked at',
    erase: (outcome, { about }) =>
      about.includes(': PATCH ')
        ? taken(outcome, /name must be provided|in an .* format/, 'nameless')
        : outcome,
  },
  {
    reason:
      'values of other types are refused with 400 by whatever way they come; kcp has 500 for an apply, 422 for a patch',
    erase: outcome =>
      taken(
        outcome,
        /^failed to convert new object|json: cannot unmarshal|illegal base64|parsing time/,
        'unreadable',
      ),
  },
  {
    reason: 'Go walks maps in no order, and stops at the first field that a schema does not declare',
    erase: outcome => rewritten(outcome, /^(failed to create typed patch object).*/s, '$1'),
  },
  {
    reason: 'a number that is no integer is told once, not twice',
    erase: outcome => withoutCause(outcome, 'Checked value must be of type integer'),
  },
  {
    reason: 'keys of the storage are not in our messages',
    erase: outcome => rewritten(outcome, /StorageError: .*AdditionalErrorMsg: /, ''),
  },
  {
    reason: 'the words of the JSON reader are Node’s',
    erase: outcome => rewritten(outcome, /json parse error: (?!json: )[^(]*( \(|$)/, 'json parse error$1'),
  },
  {
    reason: 'the words of the YAML reader are its own',
    erase: outcome => rewritten(outcome, /converting YAML to JSON: yaml: (?!unmarshal errors).*/s, 'no YAML'),
  },
]
