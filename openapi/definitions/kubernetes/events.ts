import type { TableColumn } from '../../../framework/contract/schema.ts'
import { since } from '../../../framework/formats/humanduration.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { computed, fieldsOf, textOf } from '../columns.ts'
import { int32, kindSchema, object, string, time } from '../fields.ts'
import { objectReference } from '../fragments.ts'
import { builtin } from './kind.ts'

const series = object(
  'Series of the event, if it occurred more than once.',
  {
    count: int32('Number of occurrences.'),
    lastObservedTime: time('Time of the last occurrence.'),
  },
  { required: ['count', 'lastObservedTime'] },
)
const source = (description: string) =>
  object(
    description,
    {
      component: string('Name of the component.'),
      host: string('Name of the node on which the component runs.'),
    },
    { default: {} },
  )

/** The fields of an event in tables, whose names differ between the two groups. */
interface EventFields {
  readonly about: unknown
  readonly source: unknown
  readonly first: unknown
  readonly last: unknown
  readonly count: unknown
  readonly message: unknown
}

const coreFields = (event: KubeObject): EventFields => ({
  about: event.involvedObject,
  source: event.source,
  first: event.firstTimestamp,
  last: event.lastTimestamp,
  count: event.count,
  message: event.message,
})
const groupFields = (event: KubeObject): EventFields => ({
  about: event.regarding,
  source: event.deprecatedSource,
  first: event.deprecatedFirstTimestamp,
  last: event.deprecatedLastTimestamp,
  count: event.deprecatedCount,
  message: event.note,
})

function target(about: unknown): string {
  const { kind, name } = fieldsOf(about)
  return [textOf(kind).toLowerCase(), textOf(name)].filter(part => part !== '').join('/')
}
function reporter(event: KubeObject, fields: EventFields): string {
  const { component, host } = fieldsOf(fields.source)
  const name = textOf(component) || textOf(event.reportingComponent) || textOf(event.reportingController)
  return [name, textOf(host) || textOf(event.reportingInstance)].filter(part => part !== '').join(', ')
}
const firstSeen = (event: KubeObject, fields: EventFields): string =>
  textOf(fields.first) || textOf(event.eventTime)
const lastSeen = (event: KubeObject, fields: EventFields): string =>
  textOf(fieldsOf(event.series).lastObservedTime) || textOf(fields.last) || firstSeen(event, fields)
const countOf = (event: KubeObject, fields: EventFields): number =>
  Number(fieldsOf(event.series).count ?? (fields.count || 1))

/** Events have their name in the last column, and in wide tables only. */
function eventColumns(read: (event: KubeObject) => EventFields): readonly TableColumn[] {
  return [
    computed(['Last Seen', 'string', 'Time of the last occurrence.'], (e, now) =>
      since(lastSeen(e, read(e)), now),
    ),
    computed(['Type', 'string', 'Type of the event: Normal or Warning.'], e => textOf(e.type)),
    computed(['Reason', 'string', 'Reason for the event, as one word in CamelCase.'], e => textOf(e.reason)),
    computed(['Object', 'string', 'Object that the event is about.'], e => target(read(e).about)),
    computed(
      ['Subobject', 'string', 'Field path of the part of the object that the event is about.'],
      e => textOf(fieldsOf(read(e).about).fieldPath),
      1,
    ),
    computed(['Source', 'string', 'Component that reported the event.'], e => reporter(e, read(e)), 1),
    computed(['Message', 'string', 'Description of the event.'], e => textOf(read(e).message).trim()),
    computed(
      ['First Seen', 'string', 'Time of the first occurrence.'],
      (e, now) => since(firstSeen(e, read(e)), now),
      1,
    ),
    computed(['Count', 'string', 'Number of occurrences.'], e => countOf(e, read(e)), 1),
    {
      ...computed(['Name', 'string', 'Name of the event.'], e => e.metadata.name ?? '', 1),
      format: 'name',
      isName: true,
    },
  ]
}

const referenceFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const selectable = (reference: string, controller: string) =>
  [...referenceFields.map(field => `${reference}.${field}`), 'reason', 'type', controller].map(field => ({
    jsonPath: `.${field}`,
  }))

export const coreEvents = builtin({
  group: '',
  kind: 'Event',
  shortNames: ['ev'],
  namespaced: true,
  schema: kindSchema(
    'Event reports something that happened to an object. Events are deleted after a while.',
    {
      action: string('Action that was taken or that failed.'),
      count: int32('Number of occurrences.'),
      eventTime: time('Time of the first occurrence.'),
      firstTimestamp: time('Time of the first occurrence.'),
      involvedObject: { ...objectReference('Object that the event is about.'), default: {} },
      lastTimestamp: time('Time of the last occurrence.'),
      message: string('Human-readable description of the event.'),
      reason: string('Reason for the event, as one word in CamelCase.'),
      related: objectReference('Secondary object of the event.'),
      reportingComponent: string('Name of the controller that reported the event.'),
      reportingInstance: string('ID of the instance of the controller.'),
      series,
      source: source('Component that reported the event.'),
      type: string('Type of the event: Normal or Warning.'),
    },
    { required: ['metadata', 'involvedObject'] },
  ),
  columns: eventColumns(coreFields),
  selectableFields: selectable('involvedObject', 'reportingComponent'),
})

export const groupEvents = builtin({
  group: 'events.k8s.io',
  kind: 'Event',
  shortNames: ['ev'],
  namespaced: true,
  schema: kindSchema(
    'Event reports something that happened to an object. Events are deleted after a while.',
    {
      action: string('Action that was taken or that failed.'),
      deprecatedCount: int32('Field count of core/v1 events.'),
      deprecatedFirstTimestamp: time('Field firstTimestamp of core/v1 events.'),
      deprecatedLastTimestamp: time('Field lastTimestamp of core/v1 events.'),
      deprecatedSource: source('Field source of core/v1 events.'),
      eventTime: time('Time of the first occurrence.'),
      note: string('Human-readable description of the event.'),
      reason: string('Reason for the event, as one word in CamelCase.'),
      regarding: objectReference('Object that the event is about.'),
      related: objectReference('Secondary object of the event.'),
      reportingController: string('Name of the controller that reported the event.'),
      reportingInstance: string('ID of the instance of the controller.'),
      series,
      type: string('Type of the event: Normal or Warning.'),
    },
    { required: ['eventTime'] },
  ),
  columns: eventColumns(groupFields),
  selectableFields: selectable('regarding', 'reportingController'),
})

/** The value of the field selector `source` of core events, which no JSONPath selects. */
export const eventSource = (event: KubeObject): string =>
  textOf(fieldsOf(event.source).component) || textOf(event.reportingComponent)
