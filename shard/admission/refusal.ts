import { type AdmissionAttributes, refusedName } from '../../framework/contract/admission.ts'
import { forbidden, type StatusError } from '../../framework/meta/errors.ts'

/** `<resource>.<group> "<name>" is forbidden: <text>`. */
export const refused = (request: AdmissionAttributes, text: string): StatusError =>
  forbidden({ group: request.group, resource: request.resource, name: refusedName(request) }, text)

/** Whether the request is one of `operations` on the main resource. */
export const concerns = (
  request: AdmissionAttributes,
  groupResource: string,
  operations: readonly AdmissionAttributes['operation'][],
): boolean =>
  `${request.resource}.${request.group}` === groupResource &&
  request.subresource === '' &&
  operations.includes(request.operation)
