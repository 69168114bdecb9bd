import {
  fields,
  items,
  rewritten,
  taken,
  textOf,
  without,
  withoutCause,
  withoutEmptyTexts,
} from './erasing.ts'
import type { Outcome } from './play.ts'
import type { Step } from './step.ts'

/** A difference that we know of and keep, and how to look past it in both answers. */
export interface Known {
  readonly reason: string
  readonly erase: (outcome: Outcome, step: Step) => Outcome
}

const isBuiltIn = (path: string): boolean => /^\/(api|apis\/(rbac|coordination)[^/]*)\//.test(path)

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
    reason: 'kube-root-ca.crt is each server’s own',
    erase: outcome => {
      const isOwn = (item: unknown) => fields(fields(item).metadata).name === 'kube-root-ca.crt'
      return items(outcome, item => (isOwn(item) || isOwn(fields(item).object) ? 'kube-root-ca.crt' : item))
    },
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
    reason:
      'every answer says the logical cluster; kcp leaves it out of dry runs and of updates that change nothing',
    erase: outcome => {
      const { metadata, ...body } = fields(outcome.body)
      const { annotations, ...rest } = fields(metadata)
      const others = without(annotations, 'kcp.io/cluster')
      if (fields(metadata).uid === undefined) return outcome
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
        /(Go struct field \w+\.metadata of type v1\.|Go value of type v1\.)?ObjectMeta(\.metadata(?=\.))?/,
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
        /^invalid continue token: continue key is not valid: .*/,
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
        /^the object provided is unrecognized|no kind is registered for the type v1.Scale|into Go value of type map|^the API version in the data|no kind ".*" is registered/,
        'unreadable',
      ),
  },
  {
    reason: 'columns of built-in kinds are described in our words, and ages pass',
    erase: (outcome, { path }) => {
      const { kind, answered, ...body } = fields(outcome.body)
      if (!isBuiltIn(path)) return outcome
      if (kind === 'Table') return { ...outcome, body: without(body, 'columnDefinitions', 'rows') }
      return fields(answered).kind === 'Table' ? { ...outcome, body } : outcome
    },
  },
  {
    reason: 'and so in watches; bookmarks there say nothing but their version',
    erase: (outcome, { path }) =>
      isBuiltIn(path) && path.includes('watch=true')
        ? items(outcome, event => {
            const { type, object } = fields(event)
            const { metadata, ...rest } = without(object, 'columnDefinitions', 'rows')
            return type === 'BOOKMARK' ? { type, metadata } : { type, metadata, ...rest }
          })
        : outcome,
  },
  {
    reason: 'a role of no known kind is the client’s mistake: 422, where kcp looks for it and answers 500',
    erase: (outcome, { about }) =>
      about.includes('create from')
        ? taken(outcome, /unsupported role reference kind/, 'unreadable')
        : taken(outcome, /unsupported role reference kind|Unsupported value: .*"ClusterRole/, 'no such role'),
  },
  {
    reason: 'a subject without a kind lacks one, besides having none of the supported ones',
    erase: (outcome, { about }) =>
      about.startsWith('RoleBinding') && /subjects\[\d\]\.kind/.test(textOf(outcome))
        ? withoutCause(outcome, '"message":"Required value","field":"subjects[')
        : outcome,
  },
  {
    reason: 'an empty text that a client has written stays',
    erase: (outcome, { about }) =>
      about.startsWith('ServiceAccount') ? { ...outcome, body: withoutEmptyTexts(outcome.body) } : outcome,
  },
  {
    reason: 'what cannot be scaled is not told of twice',
    erase: outcome => withoutCause(outcome, 'accessor error'),
  },
  {
    reason: 'a PUT that would create names no version in a dry run: nothing is stored',
    erase: (outcome, { about, path }) => {
      const { metadata, ...body } = fields(outcome.body)
      const isTry = about.endsWith(': put') && path.includes('dryRun') && outcome.status === 201
      return isTry
        ? { ...outcome, body: { ...body, metadata: without(metadata, 'resourceVersion') } }
        : outcome
    },
  },
  {
    reason: 'no data at all is as good as empty data: that changes nothing in an immutable ConfigMap',
    erase: (outcome, step) => {
      const body = String(step.sent({ resourceVersion: '', uid: '' }).body)
      const isEmpty = /"(binaryData|data)":\{\}/.test(body) && body.includes('"ConfigMap"')
      const isRefused = outcome.status === 422 && /is immutable when/.test(textOf(outcome))
      return isEmpty && (isRefused || outcome.status === 200)
        ? { ...outcome, status: 0, body: 'no data' }
        : outcome
    },
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
    reason: 'one text for 406, of built-in kinds too',
    erase: outcome =>
      taken(outcome, /^only the following media types|^406: Not Acceptable/, 'not acceptable'),
  },
  {
    reason: 'an error in status names the whole path, also at /status',
    erase: outcome => rewritten(outcome, /: status\.(?=\S+ in body)/, ': '),
  },
  {
    reason: 'what is no object, or no patch, is refused with 400 in our words',
    erase: (outcome, { about }) => {
      const isRaw = about.includes('create from') && (outcome.status === 400 || outcome.status === 422)
      const refused = isRaw ? { ...outcome, status: 0, body: 'unreadable', warnings: '' } : outcome
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
    reason: 'no data at all is as good as empty data, also for an immutable ConfigMap',
    erase: outcome =>
      /is immutable when/.test(textOf(outcome)) ? withoutCause(outcome, '"field":"binaryData"') : outcome,
  },
  {
    reason: 'what a client can read of an answer is checked before there is one',
    erase: (outcome, { about }) =>
      /\/\w+: as .*PartialObjectMetadataList/.test(about) && (outcome.status === 0 || outcome.status === 404)
        ? { ...outcome, status: 0, body: 'not a list' }
        : outcome,
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
