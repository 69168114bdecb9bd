import { about, bodyOf, type Fields, labels, type Maker, manifest, names, options, sends } from './making.ts'
import { namespace, type Said } from './step.ts'

/** The resourceVersion of an update. */
const versions: readonly ((said: Said) => Fields)[] = [
  ({ resourceVersion }) => ({ resourceVersion }),
  ({ resourceVersion }) => ({ resourceVersion }),
  () => ({}),
  () => ({ resourceVersion: '1' }),
  ({ resourceVersion, uid }) => ({ resourceVersion, uid }),
  ({ resourceVersion }) => ({ resourceVersion, name: 'renamed' }),
  ({ resourceVersion }) => ({ resourceVersion, finalizers: ['example.com/hold'] }),
]

/** Another uid is refused; the order of this error and others differs between servers. */
const replaceAnother: Maker = (subject, random) => {
  const name = random.pick(names)
  const body = manifest(subject, name, {}, subject.accepted())
  return about(subject, name, 'put of another uid', {
    sent: ({ resourceVersion }) =>
      sends('PUT', { ...body, metadata: { name, uid: 'another', resourceVersion } }),
  })
}

export const replace: Maker = (subject, random) => {
  if (random.chance(1 / 8)) return replaceAnother(subject, random)
  const [name, version, chosen, body] = [
    random.pick(names),
    random.pick(versions),
    random.pick(labels),
    bodyOf(subject, random),
  ]
  return about(subject, name, 'put', {
    query: random.pick(options),
    sent: said => sends('PUT', manifest(subject, name, { labels: chosen, ...version(said) }, body)),
  })
}

export const writeStatus: Maker = (subject, random) => {
  const name = random.pick(names)
  const body = manifest(
    subject,
    name,
    { labels: { status: 'no' } },
    { ...subject.accepted(), status: random.pick([{}, { conditions: [] }, { conditions: 'x' }]) },
  )
  const patch = random.chance(0.5)
  return about(subject, name, 'status', {
    sub: '/status',
    sent: said =>
      patch
        ? sends('PATCH', body, 'application/merge-patch+json')
        : sends('PUT', { ...body, metadata: { name, resourceVersion: said.resourceVersion } }),
  })
}

const deletions: readonly ((said: Said) => unknown)[] = [
  () => undefined,
  () => ({ propagationPolicy: 'Foreground', dryRun: ['All'] }),
  () => ({ propagationPolicy: 'Bogus' }),
  () => ({ propagationPolicy: 'Orphan', orphanDependents: true }),
  ({ uid }) => ({ preconditions: { uid } }),
  () => ({ preconditions: { uid: 'another' } }),
  () => ({ preconditions: { resourceVersion: '1' } }),
  () => ({ dryRun: ['All'] }),
  () => ({ dryRun: ['Some'] }),
  () => ({ kind: 'DeleteOptions', apiVersion: 'v1' }),
  () => ({ kind: 'Other', apiVersion: 'v1' }),
  () => ({ gracePeriodSeconds: 0 }),
  () => ({ unknownField: 1 }),
]

export const remove: Maker = (subject, random) => {
  const options = random.pick(deletions)
  return about(subject, random.pick(names), 'delete', { sent: said => sends('DELETE', options(said)) })
}

export const removeAll: Maker = (subject, random) => {
  const query = random.pick([
    '?labelSelector=app%3Dz',
    '?labelSelector=app%3Dsmp',
    '?labelSelector=tier%3Dweb&fieldSelector=metadata.name%3Da',
    '?fieldSelector=metadata.name%3Db',
    '?labelSelector=%3D',
    '?fieldSelector=metadata.name%3Dnone',
    '?dryRun=All',
  ])
  return {
    about: `${subject.kind}: deletecollection`,
    path: subject.collection + query,
    sent: () => ({ method: 'DELETE' }),
  }
}

export const odd: Maker = (subject, random) => {
  const name = random.pick(names)
  const [method, path] = random.pick([
    ['GET', `${subject.collection}/${name}/frobnicate`],
    // kcp creates custom resources there.
    [subject.isCustom ? 'PATCH' : 'POST', `${subject.collection}${subject.isCustom ? '' : `/${name}`}`],
    ['PUT', subject.collection],
    ['PATCH', subject.collection],
    ['DELETE', `${subject.collection}/${name}/status`],
    ['GET', `${subject.collection}/${name}/scale`],
    ['GET', subject.collection.replace(namespace, 'elsewhere')],
    ['POST', subject.collection.replace(namespace, 'elsewhere')],
  ] as const)
  const body =
    method === 'GET' || method === 'DELETE' ? undefined : manifest(subject, name, {}, subject.accepted())
  return { about: `${subject.kind}: ${method} ${path}`, path, sent: () => sends(method, body) }
}
