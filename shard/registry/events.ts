import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue, required } from '../../framework/meta/fielderror.ts'
import { qualifiedNameErrors } from '../../framework/meta/names.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

type Texts = Readonly<Record<string, string | undefined>>

/** The longest texts of an event with an `eventTime`, in bytes. */
const longest = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const

/** `legacyValidateEvent` of `pkg/apis/core/validation/events.go`. Events without `eventTime` are those of old clients. */
export function eventErrors(event: KubeObject): readonly FieldError[] {
  const isNew = (event.eventTime ?? null) !== null
  const { namespace = '' } = (event.involvedObject ?? {}) as Texts
  const path = 'involvedObject.namespace'
  const place = isAbout(namespace, event.metadata.namespace ?? '', isNew)
    ? []
    : [invalidValue(path, namespace, 'does not match event.namespace')]
  return isNew ? [...place, ...textErrors(event as KubeObject & Texts)] : place
}

/** Events about objects without a namespace are in some namespaces of the system; new events may be about other namespaces. */
function isAbout(namespace: string, own: string, isNew: boolean): boolean {
  if (namespace === '') return own === 'default' || (isNew && own === 'kube-system')
  return isNew || namespace === own
}

function textErrors(event: Texts): readonly FieldError[] {
  const { reportingComponent = '', message = '' } = event
  return [
    ...missing('reportingComponent', reportingComponent),
    ...qualifiedNameErrors(reportingComponent).map(problem =>
      invalidValue('reportingComponent', reportingComponent, problem),
    ),
    ...(['reportingInstance', 'action', 'reason'] as const).flatMap(field => [
      ...missing(field, event[field]),
      ...tooLong(field, event[field]),
    ]),
    ...tooLong('message', message),
  ]
}

const missing = (field: string, text = ''): readonly FieldError[] => (text === '' ? [required(field)] : [])

const tooLong = (field: keyof typeof longest, text = ''): readonly FieldError[] =>
  Buffer.byteLength(text) <= longest[field]
    ? []
    : [invalidValue(field, '', `can have at most ${longest[field]} characters`)]
