import { type FieldError, invalid } from '../../framework/meta/errors.ts'
import { tooMany } from '../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { record, text, texts } from '../rbac/rbacsource.ts'
import { selectorErrors } from './reviewselectors.ts'

/** The user in the spec of a SubjectAccessReview. */
export interface ReviewedSubject {
  readonly user: string
  readonly groups: readonly string[]
  readonly uid: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/**
 * Refuses a review without exactly one kind of attributes, or with another namespace than in the URL (rules.md 9.23).
 */
export function checkReview(object: KubeObject, namespace: string): void {
  const { resourceAttributes, nonResourceAttributes } = record(object.spec)
  const [resource, path] = [resourceAttributes ?? undefined, nonResourceAttributes ?? undefined]
  const errors = object.kind === 'LocalSubjectAccessReview' ? localErrors(resource, path, namespace) : []
  refuse(object, [...attributeErrors(resource, path), ...selectorErrors(resource), ...errors])
}

function attributeErrors(resource: unknown, path: unknown): readonly FieldError[] {
  if (resource !== undefined && path !== undefined)
    return [
      wrong('spec.nonResourceAttributes', path, 'cannot be specified in combination with resourceAttributes'),
    ]
  if (resource !== undefined || path !== undefined) return []
  const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [wrong('spec.resourceAttributes', null, detail)]
}

function localErrors(resource: unknown, path: unknown, namespace: string): readonly FieldError[] {
  if (path !== undefined)
    return [wrong('spec.nonResourceAttributes', path, 'disallowed on this kind of request')]
  const asked = text(record(resource).namespace)
  return resource === undefined || asked === namespace
    ? []
    : [wrong('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace')]
}

/** Each is looked up, in one step. */
const mostGroups = 10_000

/** The user of a review. Throws 422 when it has neither a user nor groups, or too many groups. */
export function checkSubject(object: KubeObject): ReviewedSubject {
  const spec = record(object.spec)
  const subject = { user: text(spec.user), groups: texts(spec.groups), uid: text(spec.uid) }
  if (subject.groups.length > mostGroups)
    refuse(object, [tooMany('spec.groups', subject.groups.length, mostGroups)])
  if (subject.user === '' && subject.groups.length === 0)
    refuse(object, [wrong('spec.user', '', 'at least one of user or group must be specified')])
  const extra = Object.entries(record(spec.extra)).map(
    ([key, values]) => [key.toLowerCase(), texts(values)] as const,
  )
  return extra.length === 0 ? subject : { ...subject, extra: Object.fromEntries(extra) }
}

const wrong = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  value,
  detail,
})

function refuse(object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(object.kind, 'authorization.k8s.io', '', errors)
}
