import type { Random } from '../model/random.ts'
import { badMetadata } from './creates.ts'
import { fields } from './erasing.ts'
import { about, bodyOf, labels, type Maker, manifest, names, options, sends } from './making.ts'
import type { Subject } from './step.ts'

const mergePatches = (subject: Subject, random: Random): readonly unknown[] => [
  { metadata: { labels: { app: random.pick(['x', 'y', null]) } } },
  { metadata: { annotations: { note: String(random.number(5)) } } },
  { metadata: { finalizers: null } },
  { metadata: { finalizers: ['example.com/hold'] } },
  { metadata: null },
  { metadata: { name: 'renamed' } },
  { metadata: { resourceVersion: '1' } },
  { kind: 'Other' },
  subject.random(),
  subject.random(),
  { spec: null },
  [],
  'text',
]

export const mergePatch: Maker = (subject, random) => {
  const body = random.pick(mergePatches(subject, random))
  return about(subject, random.pick(names), 'merge patch', {
    query: random.pick(options),
    sent: () => sends('PATCH', JSON.stringify(body), 'application/merge-patch+json'),
  })
}

const jsonPatches = (subject: Subject, random: Random): readonly unknown[] => [
  [{ op: 'add', path: '/metadata/labels', value: random.pick(labels) }],
  [{ op: 'add', path: '/metadata/labels/app', value: 'z' }],
  [{ op: 'remove', path: '/metadata/labels/app' }],
  [
    { op: 'test', path: '/metadata/name', value: 'a' },
    { op: 'add', path: '/metadata/annotations', value: { note: 'n' } },
  ],
  [{ op: 'replace', path: '/spec', value: fields(subject.random()).spec ?? {} }],
  [{ op: 'copy', from: '/metadata/name', path: '/metadata/annotations/copy' }],
  [{ op: 'move', from: '/metadata/labels', path: '/metadata/annotations' }],
  [{ op: 'bogus', path: '/x' }],
  [{ op: 'add', path: 'x', value: 1 }],
  [{ op: 'add', path: '/metadata/labels/app', value: 1 }],
  { op: 'add' },
  [],
]

export const jsonPatch: Maker = (subject, random) => {
  const body = random.pick(jsonPatches(subject, random))
  return about(subject, random.pick(names), 'JSON patch', {
    query: random.pick(options),
    sent: () => sends('PATCH', body, 'application/json-patch+json'),
  })
}

export const strategicPatch: Maker = (subject, random) => {
  const body = random.pick([
    { metadata: { labels: { app: 'smp' } } },
    { metadata: { labels: { $patch: 'replace', only: 'this' } } },
    { metadata: { finalizers: ['example.com/hold'] } },
    { metadata: { $deleteFromPrimitiveList: 1 } },
    { data: { a: '1' }, rules: [] },
    { $patch: 'bogus' },
  ])
  return about(subject, random.pick(names), 'strategic merge patch', {
    sent: () => sends('PATCH', body, 'application/strategic-merge-patch+json'),
  })
}

/**
 * Upstream parses times and versions only where it uses them, and lets apply configurations set
 * deletionGracePeriodSeconds.
 */
const mergeable = badMetadata.filter(
  metadata =>
    !['creationTimestamp', 'resourceVersion', 'deletionGracePeriodSeconds'].some(field => field in metadata),
)

/** A null counts as absent in every write; upstream treats it as a value of the wrong type in apply only. */
const withoutNulls = (body: object): string =>
  JSON.stringify(body, (_, value) => (value === null ? undefined : value))

const managers = ['one', 'two', 'three']

const applyOptions = ['', '&force=true', '&force=true', '&dryRun=All', '&fieldValidation=Strict', '&force=x']

export const apply: Maker = (subject, random) => {
  const name = random.pick(names)
  const metadata = random.chance(0.9) ? { labels: random.pick(labels) } : random.pick(mergeable)
  const body = manifest(subject, name, metadata, bodyOf(subject, random))
  const manager = random.chance(0.95) ? `fieldManager=${random.pick(managers)}` : ''
  return about(subject, name, 'apply', {
    query: `?${manager}${random.pick(applyOptions)}`,
    sent: () => sends('PATCH', withoutNulls(body), 'application/apply-patch+yaml'),
  })
}
