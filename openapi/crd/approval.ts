import { formatCheck } from '../../framework/formats/formats.ts'
import { textAt } from '../../framework/formats/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue, required } from '../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

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

/** Groups of the Kubernetes community need an approval (chapter 40, rule 7.5); what was wrong before may stay. */
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
