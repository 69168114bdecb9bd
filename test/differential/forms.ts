import { stringify } from 'yaml'
import { groupIn } from '../../framework/meta/object.ts'
import { encodeMessage, enveloped } from '../../framework/wire/protobuf/encode.ts'
import { kindFields } from '../../framework/wire/protobuf/fields.ts'
import { about, bodyOf, labels, type Maker, manifest, names, options, sends } from './making.ts'

// Bodies and responses in other formats than plain JSON.

export const createInYaml: Maker = (subject, random) => {
  const name = random.pick(names)
  const body = manifest(subject, name, { labels: random.pick(labels) }, bodyOf(subject, random))
  const text = random.pick(['', '---\n', '# comment\n']) + stringify(body) + random.pick(['', '...\n'])
  return {
    ...about(subject, name, 'create in YAML', {
      sent: () => ({ method: 'POST', body: text, headers: { 'content-type': 'application/yaml' } }),
    }),
    path: subject.collection + random.pick(options),
  }
}

const validations = ['Strict', 'Warn', 'Ignore', 'strict', '']

/** Duplicate and unknown fields at any depth. */
export const createTwice: Maker = (subject, random) => {
  const name = random.pick(names)
  const accepted = JSON.stringify(subject.accepted()).slice(1, -1)
  const spec = accepted === '' ? '' : `,${accepted}`
  const metadata = random.pick([
    `"metadata":{"name":"${name}"}`,
    `"metadata":{"name":"x","name":"${name}"}`,
    `"metadata":{"name":"${name}","labels":{"a":"1","a":"2"},"unknown":1}`,
    `"metadata":{"name":"x"},"metadata":{"name":"${name}"}`,
  ])
  const more = random.pick(['', ',"unknown":1', ',"unknown":{"a":1,"a":2}', spec])
  const body = `{"apiVersion":"${subject.apiVersion}","kind":"${subject.kind}",${metadata}${spec}${more}}`
  return {
    ...about(subject, name, 'create with members twice', {
      sent: () => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } }),
    }),
    path: `${subject.collection}?fieldValidation=${random.pick(validations)}`,
  }
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const accepts = [
  table,
  partial,
  `${partial},application/json`,
  'application/json;as=Table;v=v9;g=meta.k8s.io',
]

/** Writes whose response is another form of the object. */
export const writeAs: Maker = (subject, random) => {
  const name = random.pick(names)
  const accept = random.pick(accepts)
  const headers = { accept, 'content-type': 'application/merge-patch+json' }
  const body = JSON.stringify({ metadata: { labels: { app: random.pick(['x', 'y']) } } })
  const query = random.pick(['', '?includeObject=None', '?includeObject=Object'])
  return about(subject, name, `merge patch as ${accept}`, {
    query,
    sent: () => ({ method: 'PATCH', body, headers }),
  })
}

const protobuf = 'application/vnd.kubernetes.protobuf'

/** Custom resources have no protobuf: no request is sent for them. */
export const inProtobuf: Maker = (subject, random) => {
  const name = random.pick(names)
  const body = manifest(subject, name, { labels: random.pick(labels) }, subject.accepted())
  const fields = kindFields(groupIn(subject.apiVersion), subject.kind) ?? new Map()
  const bytes = enveloped({ apiVersion: subject.apiVersion, kind: subject.kind }, encodeMessage(fields, body))
  const accept = random.pick([protobuf, 'application/json', `${protobuf},application/json`])
  const headers = { accept, 'content-type': protobuf }
  const what = `protobuf for ${accept}`
  if (subject.isCustom || random.chance(0.5))
    return about(subject, name, what, { sent: () => ({ headers: { accept } }) })
  return {
    ...about(subject, name, what, { sent: () => ({ method: 'POST', body: bytes, headers }) }),
    path: subject.collection,
  }
}

const scales = [{ replicas: 3 }, { replicas: 4 }, { replicas: -1 }, { replicas: 'x' }]

/** `/scale`, of resources with and without it. */
export const scale: Maker = (subject, random) => {
  const name = random.pick(names)
  const spec = random.pick(scales)
  const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec }
  const [method, type] = random.pick([
    ['GET', undefined],
    ['PUT', undefined],
    ['PATCH', 'application/merge-patch+json'],
  ] as const)
  return about(subject, name, `scale ${type ?? ''}`, {
    sub: '/scale',
    sent: ({ resourceVersion }) =>
      method === 'GET'
        ? {}
        : sends(method, method === 'PUT' ? { ...body, metadata: { name, resourceVersion } } : body, type),
  })
}
