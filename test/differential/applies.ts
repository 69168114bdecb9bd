import { about, type Fields, type Maker, manifest, names, sends } from './making.ts'
import type { Subject } from './step.ts'

// Invalid configurations.

type Configurations = (subject: Subject, name: string) => readonly (Fields | string)[]

const configurations: Configurations = (subject, name) => {
  const whole = (metadata: Fields, body: Fields = subject.accepted()): Fields =>
    manifest(subject, name, metadata, body)
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' }
  return [
    whole({ ownerReferences: [owner, owner] }),
    whole({ ownerReferences: [owner, { ...owner, uid: undefined }] }),
    whole({ ownerReferences: null }),
    whole({ finalizers: ['example.com/a', 'example.com/a'] }),
    whole({ labels: null }),
    whole({ labels: { app: null } }),
    whole({ labels: [] }),
    whole({ labels: 'x' }),
    whole({ labels: { app: 1 } }),
    whole({ annotations: { a: {} } }),
    whole({ managedFields: [] }),
    whole({ managedFields: null }),
    whole({ uid: 'another' }),
    whole({ resourceVersion: '1' }),
    whole({ generateName: 'x-' }),
    { ...whole({}), metadata: undefined },
    { ...whole({}), metadata: null },
    { ...whole({}), metadata: [] },
    { ...whole({}), apiVersion: undefined },
    { ...whole({}), kind: undefined },
    { ...whole({}), kind: 'Other' },
    { ...whole({}), apiVersion: 'example.com/v1' },
    { ...whole({}), apiVersion: subject.apiVersion.replace(/v\d\w*$/, 'v9') },
    { ...whole({}), status: 'x' },
    { ...whole({}), spec: 'x' },
    { ...whole({}), spec: [] },
    { ...whole({}), data: { a: 1 }, rules: {}, subjects: 'x' },
    { ...whole({}), unknownField: 1 },
    'null',
    '[]',
    '"x"',
    '',
    'a: b: c',
    '{"a":',
  ]
}

const queries = [
  'fieldManager=one',
  'fieldManager=one&force=true',
  'fieldManager=one&dryRun=All',
  'fieldManager=one&fieldValidation=Strict',
  'force=true',
  'fieldManager=one&fieldValidation=Bogus',
]

export const applyBadly: Maker = (subject, random) => {
  const name = random.pick(names)
  const body = random.pick(configurations(subject, name))
  return about(subject, name, 'bad apply', {
    query: `?${random.pick(queries)}`,
    sent: () =>
      sends('PATCH', typeof body === 'string' ? body : JSON.stringify(body), 'application/apply-patch+yaml'),
  })
}
