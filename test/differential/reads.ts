import { about, type Maker, names } from './making.ts'

export const read: Maker = (subject, random) => {
  const query = random.pick(['', '?resourceVersion=0', '?resourceVersion=x', '?pretty=true', '?timeout=x'])
  return about(subject, random.pick([...names, 'missing']), 'get', { query, sent: () => ({}) })
}

const accepts = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/xml',
  'text/html, */*',
]

export const readAs: Maker = (subject, random) => {
  const accept = random.pick(accepts)
  const of = random.pick(['', `/${random.pick(names)}`])
  return {
    about: `${subject.kind}${of}: as ${accept}`,
    path: subject.collection + of,
    sent: () => ({ headers: { accept } }),
  }
}

const queries = [
  '',
  '?labelSelector=app%3Dx',
  '?labelSelector=app+in+(x,y),tier',
  '?labelSelector=app%21%3Dx',
  '?labelSelector=%21app',
  '?labelSelector=a%3D%3D%3Db',
  '?labelSelector=app+in+x',
  '?fieldSelector=metadata.name%3Da',
  '?fieldSelector=metadata.namespace%3Ddifferential',
  '?fieldSelector=spec.nothing%3Da',
  '?fieldSelector=metadata.name',
  '?limit=1',
  '?limit=x',
  '?limit=-1',
  '?continue=bogus',
  '?resourceVersion=0&resourceVersionMatch=Exact',
  '?resourceVersionMatch=Exact',
  '?resourceVersion=1&resourceVersionMatch=Bogus',
  '?resourceVersion=0&resourceVersionMatch=NotOlderThan',
  '?sendInitialEvents=true',
  '?watch=true&sendInitialEvents=true',
  '?watch=true&resourceVersion=x',
  '?watch=true&limit=x',
]

/** The state as a stream, which ends with the bookmark after the initial events. */
export const watchAsList: Maker = (subject, random) => {
  const accept = random.pick(['application/json', accepts[0] ?? '', accepts[1] ?? ''])
  const selector = random.pick(['', '&labelSelector=app%3Dx', '&fieldSelector=metadata.name%3Da'])
  const query = `?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true${selector}`
  return {
    about: `${subject.kind}: watch as list ${accept}`,
    path: subject.collection + query,
    sent: () => ({ headers: { accept } }),
  }
}

export const list: Maker = (subject, random) => {
  const query = random.pick(queries)
  return { about: `${subject.kind}: list ${query}`, path: subject.collection + query, sent: () => ({}) }
}
