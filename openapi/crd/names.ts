import { formatCheck } from '../../framework/formats/formats.ts'
import { listAt, textAt } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { type ErrorSteps, itemErrors } from '../../framework/meta/errorsteps.ts'
import { invalidValue, required } from '../../framework/meta/fielderror.ts'
import { dns1035LabelErrors, dns1123SubdomainErrors } from '../../framework/meta/names.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { kindNameErrors } from '../validation/structure.ts'

const nameFormatErrors = (
  path: string,
  value: string,
  check: (value: string) => readonly string[],
): readonly FieldError[] => {
  const problems = check(value)
  return problems.length === 0 ? [] : [invalidValue(path, value, problems.join(','))]
}

/** Validates a name that must be an RFC 1035 label. */
export const labelErrors = (path: string, value: string): readonly FieldError[] =>
  nameFormatErrors(path, value, dns1035LabelErrors)

/** Groups of Kubernetes that are no domains: kcp serves them from definitions (kcp-dev/kubernetes `validation_kcp.go`). */
const plainGroups: readonly string[] = ['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy']

/** Validates an API group that must be a domain with a dot, unless it is one of Kubernetes. */
export function domainErrors(path: string, group: string): readonly FieldError[] {
  if (plainGroups.includes(group)) return []
  const errors = nameFormatErrors(path, group, dns1123SubdomainErrors)
  if (errors.length > 0) return errors
  return group.includes('.') ? [] : [invalidValue(path, group, 'should be a domain with at least one dot')]
}

/** Required names, with their validation. */
const single = [
  ['plural', labelErrors],
  ['singular', labelErrors],
  ['kind', kindNameErrors],
  ['listKind', kindNameErrors],
] as const

export const missingNames = (names: unknown, path: string): readonly FieldError[] =>
  single.filter(([name]) => textAt(names, name) === '').map(([name]) => required(`${path}.${name}`))

/** Validates the names of kinds and resources that are set (rules.md 7.3). */
export function* nameErrors(names: unknown, path: string): ErrorSteps {
  const kind = textAt(names, 'kind')
  return [
    ...single.flatMap(([name, check]) =>
      textAt(names, name) === '' ? [] : check(`${path}.${name}`, textAt(names, name)),
    ),
    ...(yield* listedErrors(names, path, 'shortNames')),
    ...(kind !== '' && kind === textAt(names, 'listKind')
      ? [invalidValue(`${path}.listKind`, kind, 'kind and listKind may not be the same')]
      : []),
    ...(yield* listedErrors(names, path, 'categories')),
  ]
}

const listedErrors = (names: unknown, path: string, list: string): ErrorSteps =>
  itemErrors(listAt(names, list), (name, i) => labelErrors(`${path}.${list}[${i}]`, String(name)))

const annotation = 'api-approved.kubernetes.io'
const path = `metadata.annotations[${annotation}]`
const see = 'see https://github.com/kubernetes/enhancements/pull/1111'

type Approval = 'missing' | 'invalid' | 'approved' | 'bypassed'

const isUrl = (text: string): boolean =>
  /^[a-zA-Z][\w+.-]*:\/\/[^/]/.test(text) && formatCheck('uri')?.(text) === true

function approvalOf(object: KubeObject): Approval {
  const value = textAt(object.metadata.annotations, annotation)
  if (value === '') return 'missing'
  if (value.startsWith('unapproved')) return 'bypassed'
  return isUrl(value) ? 'approved' : 'invalid'
}

const isProtected = (group: string): boolean => /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)

/** Protected groups need an approval annotation (rules.md 7.5). An unchanged state is not reported again. */
export function approvalErrors(object: KubeObject, old?: KubeObject): readonly FieldError[] {
  if (!isProtected(textAt(object.spec, 'group'))) return []
  const approval = approvalOf(object)
  if (old !== undefined && approvalOf(old) === approval) return []
  const text = `protected groups must have approval annotation "${annotation}"`
  if (approval === 'missing') return [required(path, `${text}, ${see}`)]
  const value = textAt(object.metadata.annotations, annotation)
  return approval === 'invalid'
    ? [invalidValue(path, value, `${text} with either a URL or a reason starting with "unapproved", ${see}`)]
    : []
}
