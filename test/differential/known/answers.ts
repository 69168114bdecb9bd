import type { Known } from '../erasing.ts'
import { fields, items, rewritten, taken, without } from '../erasing.ts'

const isBuiltIn = (path: string): boolean => /^\/(api|apis\/(rbac|coordination)[^/]*)\//.test(path)

/** A row whose object has no annotation of its logical cluster. */
function unplaced(row: unknown): unknown {
  const { object, ...rest } = fields(row)
  const { metadata, ...body } = fields(object)
  const { annotations, ...others } = fields(metadata)
  const left = without(annotations, 'kcp.io/cluster')
  const kept = Object.keys(left).length === 0 ? others : { ...others, annotations: left }
  return { ...rest, object: { ...body, metadata: kept } }
}

/** The form of responses. */
export const knownOfAnswers: readonly Known[] = [
  {
    reason: 'kcp names application/apply-patch+yaml twice among the types of patches',
    erase: outcome => rewritten(outcome, /(, application\/apply-patch\+yaml)+$/, '$1'),
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
    reason: 'every response has the logical cluster; kcp omits it in dry runs and in updates without changes',
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
    reason: 'and so in Tables',
    erase: outcome => {
      const { answered, ...body } = fields(outcome.body)
      const { rows, ...table } = fields(answered)
      if (!Array.isArray(rows)) return outcome
      return { ...outcome, body: { ...body, answered: { ...table, rows: rows.map(unplaced) } } }
    },
  },
  {
    reason: 'an empty list of metadata is an empty list, not null',
    erase: outcome => {
      const body = fields(outcome.body)
      return body.items === null ? { ...outcome, body: { ...body, items: [] } } : outcome
    },
  },
  {
    reason: 'application/* is any of application for built-in kinds too',
    erase: (outcome, { about }) =>
      about.endsWith('as application/*') ? { ...outcome, status: 0, type: '', body: '' } : outcome,
  },
  {
    reason: 'a continue token is opaque, and so is what is wrong with it',
    erase: outcome => rewritten(outcome, /^invalid continue token: .*/, 'continue key is not valid'),
  },
  {
    reason: 'an object asked for as a list is not acceptable: 406, where kcp answers 500',
    erase: outcome =>
      taken(outcome, /content is not a list|the requested object is not a list/, 'not a list'),
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
    reason: 'a PUT or an apply that would create names no version in a dry run: nothing is stored',
    erase: (outcome, { path }) => {
      const { metadata, ...body } = fields(outcome.body)
      const isTry = path.includes('dryRun') && outcome.status === 201
      return isTry
        ? { ...outcome, body: { ...body, metadata: without(metadata, 'resourceVersion') } }
        : outcome
    },
  },
  {
    reason: 'one text for 406, of built-in kinds too',
    erase: outcome =>
      taken(outcome, /^only the following media types|^406: Not Acceptable/, 'not acceptable'),
  },
  {
    reason: 'what a client can read of an answer is checked before there is one',
    erase: (outcome, { about }) =>
      / as .*PartialObjectMetadataList/.test(about) && !/^\w+: as/.test(about)
        ? { ...outcome, status: 0, body: 'not a list' }
        : outcome,
  },
]
