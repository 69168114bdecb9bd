import type { Random } from '../model/random.ts'
import type { Maker } from './making.ts'

// Valid and invalid selections of a collection.

const selectors = [
  'app=x',
  'app==x',
  'app!=x',
  'app in (x, y)',
  'app notin (x)',
  'app',
  '!app',
  'app,tier=web',
  'app>1',
  'app<5',
  'app>x',
  'app in ()',
  'app in (x',
  'app in x',
  'app notin',
  'in in (in)',
  'a=b=c',
  'app=,tier',
  ',',
  'app,,tier',
  '=x',
  '!',
  '!app=x',
  'a b',
  'app=x y',
  'app=-x-',
  'app=Ä',
  'Ä=x',
  'x/y/z=1',
  'example.com/app=x',
  '/app=x',
  `${'a'.repeat(64)}=x`,
  `app=${'a'.repeat(64)}`,
  'app in (x,,y)',
  'app in (-)',
  '(app)',
  'app exists',
]

const fieldSelectors = [
  'metadata.name=a',
  'metadata.name==a',
  'metadata.name!=a',
  'metadata.namespace=differential',
  'metadata.namespace!=differential',
  'metadata.name=a,metadata.namespace=differential',
  'metadata.name=a,metadata.name=b',
  'metadata.name',
  'metadata.name in (a)',
  'metadata.uid=x',
  'metadata.labels.app=x',
  'spec.x=1',
  'status.phase=Active',
  'type=Opaque',
  '=',
  ',',
  'metadata.name=',
  'metadata.name=a\\,b',
  'metadata.name=a\\',
  'metadata.name=a\\x',
  '!metadata.name',
]

const versions = ['', '0', 'x', '-1', '99999999999999999999']
const matches = ['', 'Exact', 'NotOlderThan', 'exact', 'Bogus']
const limits = ['', '0', '1', '-1', 'x', '99999999999999999999', '1.5']

const token = (text: string): string => Buffer.from(text).toString('base64url')
const tokens = [
  '',
  'bogus',
  '!',
  token('{}'),
  token('null'),
  token('[]'),
  token('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}'),
  token('{"v":"meta.k8s.io/v2","rv":1,"start":"a"}'),
  token('{"v":"meta.k8s.io/v1","rv":1,"start":""}'),
  token('{"v":"meta.k8s.io/v1","rv":"1","start":"a"}'),
  token('{"v":"meta.k8s.io/v1","rv":1,"start":"../../a"}'),
]

const flags = ['', '', '', 'true', 'false', 'x', '']

function queryOf(random: Random): string {
  const query = new URLSearchParams()
  const add = (name: string, values: readonly string[], often: number): void => {
    if (random.chance(often)) query.set(name, random.pick(values))
  }
  add('labelSelector', selectors, 0.4)
  add('fieldSelector', fieldSelectors, 0.3)
  add('resourceVersion', versions, 0.3)
  add('resourceVersionMatch', matches, 0.3)
  add('limit', limits, 0.2)
  add('continue', tokens, 0.2)
  add('sendInitialEvents', flags, 0.1)
  add('allowWatchBookmarks', flags, 0.1)
  add('timeoutSeconds', ['1', 'x', '-1'], 0.05)
  return query.toString()
}

export const listBadly: Maker = (subject, random) => {
  const query = queryOf(random)
  const wide = subject.namespaced && random.chance(0.2)
  const collection = wide ? subject.collection.replace(/\/namespaces\/[^/]+/, '') : subject.collection
  return { about: `${subject.kind}: list ${query}`, path: `${collection}?${query}`, sent: () => ({}) }
}

/** Watches that are refused, because others would not end. */
export const watchBadly: Maker = (subject, random) => {
  const query = random.pick([
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=true',
    'sendInitialEvents=true&resourceVersionMatch=Exact',
    'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=x',
    'sendInitialEvents=x',
    'resourceVersion=x',
    'resourceVersion=-1',
    'continue=x',
    'limit=x',
    'labelSelector=%3D',
    'fieldSelector=spec.nothing%3D1',
    'timeoutSeconds=x',
    'continue=x&resourceVersion=0',
    'continue=x&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  ])
  return {
    about: `${subject.kind}: watch ${query}`,
    path: `${subject.collection}?watch=1&${query}`,
    sent: () => ({}),
  }
}
