import { about, type Maker, manifest, names, sends } from './making.ts'

// Options of writes, valid and invalid.

const anyOptions = [
  'dryRun=All',
  'dryRun=All&dryRun=All',
  'dryRun=',
  'dryRun=all',
  'dryRun=Some&fieldValidation=Bad',
  'fieldValidation=Bad',
  'fieldValidation=Strict&dryRun=All',
  'fieldValidation=',
  `fieldManager=${'m'.repeat(129)}`,
  `fieldManager=${'m'.repeat(128)}&dryRun=All`,
  'fieldManager=%07',
  'fieldManager=a%C3%A4%20b&dryRun=All',
  'fieldManager=&dryRun=All',
  'force=true',
  'force=bogus',
  'pretty=1&dryRun=All',
  'unknownParameter=1&dryRun=All',
  'resourceVersion=1&dryRun=All',
  'timeoutSeconds=1&dryRun=All',
]

const bodiless = ['POST', 'PUT', 'merge', 'json', 'strategic', 'apply'] as const

const types: Readonly<Record<string, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

export const writeWithOptions: Maker = (subject, random) => {
  const name = random.pick(names)
  const how = random.pick(bodiless)
  const query = `?${random.pick(anyOptions)}`
  const body = manifest(subject, name, { labels: { app: 'x' } }, subject.accepted())
  if (how === 'POST')
    return {
      ...about(subject, name, `create ${query}`, { sent: () => sends('POST', body) }),
      path: subject.collection + query,
    }
  if (how === 'PUT')
    return about(subject, name, 'put with options', {
      query,
      sent: ({ resourceVersion }) =>
        sends('PUT', { ...body, metadata: { name, resourceVersion, labels: { app: 'x' } } }),
    })
  const sent = how === 'json' ? [{ op: 'add', path: '/metadata/labels', value: { app: 'y' } }] : body
  return about(subject, name, `${how} with options`, {
    query,
    sent: () => sends('PATCH', JSON.stringify(sent), types[how]),
  })
}

/** Names from generateName, whose last five letters the server chooses. */
export const generate: Maker = (subject, random) => {
  const generateName = random.pick([
    'gen-',
    'gen.',
    `gen-${'x'.repeat(70)}`,
    `gen-${'x'.repeat(260)}`,
    'gen_',
    'Gen',
  ])
  const metadata = {
    generateName,
    ...(random.chance(0.2) ? { name: random.pick(names) } : { name: undefined }),
  }
  const body = manifest(subject, '', metadata, subject.accepted())
  return {
    about: `${subject.kind}: create ${generateName.slice(0, 10)}`,
    path: `${subject.collection}?dryRun=All`,
    sent: () => sends('POST', body),
  }
}

const deleteQueries = [
  'dryRun=All&gracePeriodSeconds=0',
  'gracePeriodSeconds=-1&dryRun=All',
  'gracePeriodSeconds=x&dryRun=All',
  'propagationPolicy=Foreground&dryRun=All',
  'propagationPolicy=Orphan&dryRun=All',
  'propagationPolicy=Background&dryRun=All',
  'propagationPolicy=bogus',
  'propagationPolicy=Orphan&orphanDependents=true',
  'orphanDependents=true&dryRun=All',
  'orphanDependents=x&dryRun=All',
  'preconditions.uid=x',
  'dryRun=Bogus',
  'ignoreStoreReadErrorWithClusterBreakingPotential=true',
]

export const removeWithOptions: Maker = (subject, random) => {
  const query = `?${random.pick(deleteQueries)}`
  if (random.chance(0.4))
    return {
      about: `${subject.kind}: deletecollection`,
      path: `${subject.collection}${query}&labelSelector=app%3Dnone`,
      sent: () => ({ method: 'DELETE' }),
    }
  return about(subject, random.pick(names), 'delete', { query, sent: () => ({ method: 'DELETE' }) })
}

const collectionBodies: readonly unknown[] = [
  { propagationPolicy: 'Foreground', dryRun: ['All'] },
  { propagationPolicy: 'Orphan', dryRun: ['All'] },
  { propagationPolicy: 'Background', dryRun: ['All'] },
  { propagationPolicy: 'Bogus' },
  { preconditions: { uid: 'another' }, dryRun: ['All'] },
  { preconditions: { resourceVersion: '1' }, dryRun: ['All'] },
  { gracePeriodSeconds: -1, dryRun: ['All'] },
  { gracePeriodSeconds: 'x' },
  { orphanDependents: true, propagationPolicy: 'Orphan' },
  { dryRun: 'All' },
  { dryRun: ['all'] },
  { unknownField: 1, dryRun: ['All'] },
  { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] },
  { kind: 'DeleteOptions', apiVersion: 'example.com/v1', dryRun: ['All'] },
  { kind: 'Pod', apiVersion: 'v1', dryRun: ['All'] },
  [],
  '{',
]

export const removeAllAsSaid: Maker = (subject, random) => {
  const body = random.pick(collectionBodies)
  return {
    about: `${subject.kind}: deletecollection with ${JSON.stringify(body)}`,
    path: subject.collection + random.pick(['', '?labelSelector=app%3Dx', '?limit=1', '?continue=bogus']),
    sent: () => sends('DELETE', body),
  }
}

const forms = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/yaml',
  'application/json;as=Bogus;v=v1;g=meta.k8s.io,application/json',
  'application/json;q=0.1, application/yaml',
  '*/*',
  'application/*',
  'application/json;stream=watch',
  'application/cbor',
]

/** Writes whose response is another form of the object. */
export const answerAs: Maker = (subject, random) => {
  const name = random.pick(names)
  const accept = random.pick(forms)
  const headers = { accept, 'content-type': 'application/json' }
  const body = manifest(subject, name, { labels: { app: 'x' } }, subject.accepted())
  const method = random.pick(['POST', 'PUT', 'DELETE', 'GET'])
  const text = (metadata: object): string => JSON.stringify({ ...body, metadata: { name, ...metadata } })
  const step = about(subject, name, `${method} as ${accept}`, {
    query: '?dryRun=All',
    sent: ({ resourceVersion }) => {
      if (method === 'GET' || method === 'DELETE') return { method, headers }
      return { method, headers, body: text(method === 'PUT' ? { resourceVersion } : {}) }
    },
  })
  return method === 'POST' ? { ...step, path: `${subject.collection}?dryRun=All` } : step
}
