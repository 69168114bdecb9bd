import { about, bodyOf, type Fields, labels, type Maker, manifest, names, options, sends } from './making.ts'

export const create: Maker = (subject, random) => {
  const name = random.pick(names)
  const body = manifest(subject, name, { labels: random.pick(labels) }, bodyOf(subject, random))
  return {
    ...about(subject, name, 'create', { sent: () => sends('POST', body) }),
    path: subject.collection + random.pick(options),
  }
}

export const badMetadata: readonly Fields[] = [
  { name: 'Upper' },
  { name: '' },
  { name: 'a/b' },
  { name: 'x'.repeat(260) },
  { labels: { 'a b': 'c' } },
  { labels: { app: '-x-' } },
  { labels: { app: 1 } },
  { annotations: { '/': 'x' } },
  { namespace: 'elsewhere' },
  { resourceVersion: '5' },
  { finalizers: ['bad finalizer'] },
  { finalizers: ['unqualified'] },
  { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '' }] },
  { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: 'u' }] },
  { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: 'u' }] },
  { name: undefined, generateName: 'Bad-' },
  { name: undefined },
  { creationTimestamp: 'yesterday' },
  { unknownField: 1 },
  { deletionGracePeriodSeconds: 3 },
  { managedFields: [{ manager: 'x', operation: 'Bogus' }] },
]

export const createBadly: Maker = (subject, random) => {
  const body = manifest(subject, 'bad', random.pick(badMetadata), subject.accepted())
  const query = random.pick(['', '', '?fieldValidation=Strict'])
  return {
    about: `${subject.kind}: create with bad metadata`,
    path: subject.collection + query,
    sent: () => sends('POST', body),
  }
}

const wrongIdentity: readonly Fields[] = [
  { kind: 'Other' },
  { apiVersion: 'v9' },
  { apiVersion: 'example.com/v1' },
  { kind: '', apiVersion: '' },
  { apiVersion: 'a/b/c' },
  { metadata: [] },
  { metadata: 'x' },
]

export const createAnother: Maker = (subject, random) => {
  const body = { ...manifest(subject, 'other', {}, subject.accepted()), ...random.pick(wrongIdentity) }
  return {
    about: `${subject.kind}: create of another kind`,
    path: subject.collection,
    sent: () => sends('POST', body),
  }
}

const raw = ['{', '[]', 'null', '"x"', '{"a":1,"a":2}', 'kind: [', '{} {}', '']

const types = [
  'application/json',
  'application/yaml',
  'text/plain',
  'application/xml',
  'application/json; charset=utf-8',
]

export const createRaw: Maker = (subject, random) => {
  const body = random.pick(raw)
  const headers = { 'content-type': random.pick(types) }
  return {
    about: `${subject.kind}: create from ${JSON.stringify(body)}`,
    path: subject.collection,
    sent: () => ({ method: 'POST', body, headers }),
  }
}
