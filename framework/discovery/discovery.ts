import type { ApiResource, ApiSet, Subresource } from '../contract/apis.ts'
import { apiVersionOf } from '../meta/object.ts'
import type { Verb } from '../request/requestinfo.ts'

/** The versions of a group, the preferred one first. */
export interface DiscoveryGroup {
  readonly name: string
  readonly versions: readonly GroupVersion[]
}

export interface GroupVersion {
  readonly version: string
  /** Sorted by plural. */
  readonly resources: readonly ApiResource[]
}

const grouped = new WeakMap<ApiSet, readonly DiscoveryGroup[]>()

/**
 * The groups of an ApiSet in the order in which kubectl searches short names: core, built-in groups, custom groups,
 * each by name (rules.md 8.5). Computed once per ApiSet.
 */
export function groupsOf(apis: ApiSet): readonly DiscoveryGroup[] {
  let groups = grouped.get(apis)
  if (groups === undefined) {
    groups = makeGroups(apis)
    grouped.set(apis, groups)
  }
  return groups
}

function makeGroups(apis: ApiSet): readonly DiscoveryGroup[] {
  const groups = new Map<string, Map<string, ApiResource[]>>()
  for (const resource of apis.resources) {
    const versions = groups.get(resource.group) ?? new Map<string, ApiResource[]>()
    groups.set(resource.group, versions)
    const own = versions.get(resource.version)
    if (own === undefined) versions.set(resource.version, [resource])
    else own.push(resource)
  }
  const list = [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions].map(([version, resources]) => ({ version, resources })),
  }))
  // The sort is stable: within a rank, groups stay sorted by name.
  return list.sort((a, b) => rankOf(a) - rankOf(b))
}

function rankOf(group: DiscoveryGroup): number {
  if (group.name === '') return 0
  return group.versions.every(v => v.resources.every(r => r.custom)) ? 2 : 1
}

/** `GET /api`. `v1` is listed even if it is empty, as clients expect. `address`: host and port. */
export const coreVersions = (address: string): object => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
})

/** `GET /apis`. */
export const groupList = (apis: ApiSet): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groupsOf(apis)
    .filter(group => group.name !== '')
    .map(groupDocument),
})

/** `GET /apis/<group>`; undefined if the group is not served. */
export function groupOf(apis: ApiSet, name: string): object | undefined {
  const group = name === '' ? undefined : groupsOf(apis).find(g => g.name === name)
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) }
}

function groupDocument({ name, versions }: DiscoveryGroup): object {
  const list = versions.map(({ version }) => ({ groupVersion: apiVersionOf(name, version), version }))
  return { name, versions: list, preferredVersion: list[0] }
}

/** `GET /api/v1` and `GET /apis/<group>/<version>`; undefined if the version is not served. */
export function resourceList(apis: ApiSet, group: string, version: string): object | undefined {
  const found = groupsOf(apis)
    .find(g => g.name === group)
    ?.versions.find(v => v.version === version)
  if (found === undefined) return undefined
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(group, version),
    resources: found.resources.flatMap(entriesOf),
  }
}

const entriesOf = (resource: ApiResource): readonly object[] => [
  {
    name: resource.names.plural,
    singularName: resource.names.singular,
    namespaced: resource.namespaced,
    kind: resource.names.kind,
    verbs: verbsOf(resource),
    ...namesOf(resource),
    ...(resource.storageVersionHash && { storageVersionHash: resource.storageVersionHash }),
  },
  ...[...resource.subresources].sort(byName).map(subresource => ({
    name: `${resource.names.plural}/${subresource.name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...foreignVersion(subresource, resource),
    kind: subresource.kind,
    // Null in Kubernetes: the subresource exists, but has no verbs here.
    verbs: subresource.verbs.length === 0 ? null : [...subresource.verbs].sort(),
  })),
]

export const verbsOf = ({ verbs, discoveryVerbs = verbs }: ApiResource): readonly Verb[] =>
  [...discoveryVerbs].sort()

export const byName = (a: Subresource, b: Subresource): number => (a.name < b.name ? -1 : 1)

/** Short names and categories; absent if there are none. */
export const namesOf = ({ names }: ApiResource): object => ({
  ...(names.shortNames?.length && { shortNames: names.shortNames }),
  ...(names.categories?.length && { categories: names.categories }),
})

/** Group and version of the kind of a subresource, if they differ from those of the resource. */
function foreignVersion(subresource: Subresource, resource: ApiResource): object {
  const { group = resource.group, version = resource.version } = subresource
  return group === resource.group && version === resource.version ? {} : { group, version }
}
