import type { Known } from '../erasing.ts'
import { fields, taken, textOf, without, withoutCause, withoutEmptyTexts } from '../erasing.ts'

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** Differences of single kinds. */
export const knownOfKinds: readonly Known[] = [
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
      /^(RoleBinding|tried ClusterRoleBinding)/.test(about) && /subjects\[\d\]\.kind/.test(textOf(outcome))
        ? withoutCause(outcome, '"message":"Required value","field":"subjects[')
        : outcome,
  },
  {
    reason: 'an empty text that a client has written stays',
    erase: (outcome, { about }) =>
      /^(ServiceAccount|tried CustomResourceDefinition)/.test(about)
        ? { ...outcome, body: withoutEmptyTexts(outcome.body) }
        : outcome,
  },
  {
    reason: 'no data at all is as good as empty data: that changes nothing in an immutable ConfigMap',
    erase: (outcome, step) => {
      const body = String(step.sent({ resourceVersion: '', uid: '' }).body)
      const isEmpty = /"?(binaryData|data)"?: ?\{\}/.test(body) && step.path.includes('/configmaps')
      const isRefused = outcome.status === 422 && /is immutable when/.test(textOf(outcome))
      return isEmpty && (isRefused || outcome.status === 200)
        ? { ...outcome, status: 0, body: 'no data' }
        : outcome
    },
  },
  {
    reason: 'no data at all is as good as empty data, also for an immutable ConfigMap',
    erase: outcome =>
      /is immutable when/.test(textOf(outcome)) ? withoutCause(outcome, '"field":"binaryData"') : outcome,
  },
  {
    reason:
      'a role without rules has null; kcp returned an empty list for a PUT of one, once in ten thousand requests',
    erase: (outcome, { about }) =>
      /^(Cluster)?Role /.test(about) && isEmptyList(fields(outcome.body).rules)
        ? { ...outcome, body: { ...fields(outcome.body), rules: null } }
        : outcome,
  },
  {
    reason: 'a definition that is only tried has no conditions: an empty list, not null',
    erase: outcome => {
      const { status, ...body } = fields(outcome.body)
      if (!('conditions' in fields(status))) return outcome
      const conditions = fields(status).conditions ?? []
      return { ...outcome, body: { ...body, status: { ...fields(status), conditions } } }
    },
  },
  {
    reason: 'a schema with values of other types is an invalid one, 422; kcp cannot read it, 400',
    erase: (outcome, { about }) =>
      about === 'tried CustomResourceDefinition'
        ? taken(outcome, /must be of type \w+: /, 'unreadable')
        : outcome,
  },
  {
    reason: 'a binding of another shape is an invalid one, 422; kcp cannot convert it, 500',
    erase: (outcome, { about }) =>
      about === 'tried APIBinding'
        ? taken(outcome, /^failed to convert unstructured to| in body must be of type/, 'unreadable')
        : outcome,
  },
  {
    reason: 'a request for a token, which is not stored, has no managedFields',
    erase: (outcome, { about }) => {
      const { metadata, ...body } = fields(outcome.body)
      if (about !== 'tried TokenRequest' || metadata === undefined) return outcome
      return { ...outcome, body: { ...body, metadata: without(metadata, 'managedFields') } }
    },
  },
  {
    reason: 'rules of a schema are checked although its metadata is wrong: all errors at once',
    erase: (outcome, { about }) =>
      about === 'tried APIResourceSchema' ? withoutCause(outcome, 'Conversion must be specified') : outcome,
  },
]
