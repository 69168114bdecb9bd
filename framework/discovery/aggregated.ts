import { createHash } from 'node:crypto'
import { type Awaitable, nowOrInTurns, Pace } from '../async/awaitable.ts'
import type { ApiResource, ApiSet, Subresource } from '../contract/apis.ts'
import type { Document } from '../contract/documents.ts'
import type { Steps } from '../json/json.ts'
import { jsonBytes } from '../json/jsonbytes.ts'
import type { AcceptClause } from '../responses/negotiation.ts'
import { byName, type DiscoveryGroup, type GroupVersion, groupsOf, namesOf, verbsOf } from './discovery.ts'

export type AggregatedVersion = 'v2' | 'v2beta1'

/** The version of aggregated discovery in a clause of `Accept`; undefined for other clauses (rules.md 8.8). */
export function aggregatedVersion({ type, parameters }: AcceptClause): AggregatedVersion | undefined {
  const { as, g, v } = parameters
  if (type !== 'application/json' || as !== 'APIGroupDiscoveryList' || g !== 'apidiscovery.k8s.io')
    return undefined
  return v === 'v2' || v === 'v2beta1' ? v : undefined
}

/** These parameters only: client-go identifies the version by them (rules.md 8.9). */
export const aggregatedType = (version: AggregatedVersion): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

const documents = new WeakMap<ApiSet, Map<string, Awaitable<Document>>>()

/** The APIs below `/api` or `/apis` in one document, computed once per ApiSet (KEP-3352; rules.md 8.8). */
export function aggregated(
  apis: ApiSet,
  root: '/api' | '/apis',
  version: AggregatedVersion,
): Awaitable<Document> {
  const known = documents.get(apis) ?? new Map<string, Awaitable<Document>>()
  documents.set(apis, known)
  const key = `${root} ${version}`
  const document = known.get(key) ?? nowOrInTurns(render(apis, root, version), new Pace())
  known.set(key, document)
  return document
}

function* render(apis: ApiSet, root: '/api' | '/apis', version: AggregatedVersion): Steps<Document> {
  const groups = groupsOf(apis).filter(group => (group.name === '') === (root === '/api'))
  const items: object[] = []
  for (const group of root === '/api' && groups.length === 0 ? [emptyCore] : groups)
    items.push(yield* itemOf(group))
  const list = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items,
  }
  const bytes = Buffer.concat([yield* jsonBytes(list), Buffer.from('\n')])
  return { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() }
}

const emptyCore: DiscoveryGroup = { name: '', versions: [{ version: 'v1', resources: [] }] }

function* itemOf({ name, versions }: DiscoveryGroup): Steps<object> {
  const items: object[] = []
  for (const each of versions) items.push(yield* versionOf(each))
  return { metadata: { name, creationTimestamp: null }, versions: items }
}

function* versionOf({ version, resources }: GroupVersion): Steps<object> {
  const items: object[] = []
  for (const resource of resources) {
    items.push(resourceOf(resource))
    yield
  }
  return { version, resources: items, freshness: 'Current' }
}

const resourceOf = (resource: ApiResource): object => ({
  resource: resource.names.plural,
  responseKind: { group: resource.group, version: resource.version, kind: resource.names.kind },
  scope: resource.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: resource.names.singular,
  verbs: verbsOf(resource),
  ...namesOf(resource),
  ...(resource.subresources.length > 0 && {
    subresources: [...resource.subresources].sort(byName).map(s => subresourceOf(s, resource)),
  }),
})

const subresourceOf = (subresource: Subresource, resource: ApiResource): object => ({
  subresource: subresource.name,
  responseKind: {
    group: subresource.group ?? resource.group,
    version: subresource.version ?? resource.version,
    kind: subresource.kind,
  },
  verbs: [...subresource.verbs].sort(),
})
