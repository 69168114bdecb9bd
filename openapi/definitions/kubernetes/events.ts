import type { TableColumn } from '../../../framework/contract/schema.ts'
import { since } from '../../../framework/formats/humanduration.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { computed, fieldsOf, textOf } from '../columns.ts'
import { int32, kindSchema, object, string, time } from '../fields.ts'
import { objectReference } from '../fragments.ts'
import { builtin } from './kind.ts'

const series = object(
  'Set when the event happened more than once.',
  {
    count: int32('How often it happened.'),
    lastObservedTime: time('When it happened last, in microseconds.'),
  },
  { required: ['count', 'lastObservedTime'] },
)
const source = (description: string) =>
  object(
    description,
    {
      component: string('The component.'),
      host: string('The node it ran on.'),
    },
    { default: {} },
  )

/** What tables show of an event; the two groups have different names for the same things. */
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

/** Events have their name last, and only in wide tables: it says nothing. */
function eventColumns(read: (event: KubeObject) => EventFields): readonly TableColumn[] {
  return [
    computed(['Last Seen', 'string', 'When it happened last.'], (e, now) => since(lastSeen(e, read(e)), now)),
    computed(['Type', 'string', 'Normal or Warning.'], e => textOf(e.type)),
    computed(['Reason', 'string', 'Why, as one word in CamelCase.'], e => textOf(e.reason)),
    computed(['Object', 'string', 'What the event is about.'], e => target(read(e).about)),
    computed(['Subobject', 'string', 'Which part of it.'], e => textOf(fieldsOf(read(e).about).fieldPath), 1),
    computed(['Source', 'string', 'Who reported it.'], e => reporter(e, read(e)), 1),
    computed(['Message', 'string', 'What happened.'], e => textOf(read(e).message).trim()),
    computed(
      ['First Seen', 'string', 'When it happened first.'],
      (e, now) => since(firstSeen(e, read(e)), now),
      1,
    ),
    computed(['Count', 'string', 'How often it happened.'], e => countOf(e, read(e)), 1),
    {
      ...computed(['Name', 'string', 'The name of the event.'], e => e.metadata.name ?? '', 1),
      format: 'name',
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
    'Something that happened to an object. Kept for a while only.',
    {
      action: string('What was done.'),
      count: int32('How often it happened.'),
      eventTime: time('When it happened first, in microseconds.'),
      firstTimestamp: time('When it happened first.'),
      involvedObject: objectReference('What the event is about.'),
      lastTimestamp: time('When it happened last.'),
      message: string('What happened, for people.'),
      reason: string('Why, as one word in CamelCase.'),
      related: objectReference('A second object that has to do with it.'),
      reportingComponent: string('The controller that reported it.'),
      reportingInstance: string('Which instance of that controller.'),
      series,
      source: source('Who reported it.'),
      type: string('Normal or Warning.'),
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
    'Something that happened to an object. Kept for a while only.',
    {
      action: string('What was done.'),
      deprecatedCount: int32('`count` of a core event.'),
      deprecatedFirstTimestamp: time('`firstTimestamp` of a core event.'),
      deprecatedLastTimestamp: time('`lastTimestamp` of a core event.'),
      deprecatedSource: source('`source` of a core event.'),
      eventTime: time('When it happened first, in microseconds.'),
      note: string('What happened, for people.'),
      reason: string('Why, as one word in CamelCase.'),
      regarding: objectReference('What the event is about.'),
      related: objectReference('A second object that has to do with it.'),
      reportingController: string('The controller that reported it.'),
      reportingInstance: string('Which instance of that controller.'),
      series,
      type: string('Normal or Warning.'),
    },
    { required: ['eventTime'] },
  ),
  columns: eventColumns(groupFields),
  selectableFields: selectable('regarding', 'reportingController'),
})

/** Field selector `source` of core events: no path says it. */
export const eventSource = (event: KubeObject): string =>
  textOf(fieldsOf(event.source).component) || textOf(event.reportingComponent)
