import type { DiscoveredGroups } from '../../framework/discovery/discovered.ts'
import { type Api, accepts } from './api.ts'

/** A resource that can be listed. */
export interface Listable {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
}

/** The resources of a workspace or a view that can be listed, each in its preferred version, by name. Rejects with an `ApiError`. */
export async function listableAt(api: Api, base: string, signal: AbortSignal): Promise<readonly Listable[]> {
  const documents = await Promise.all(
    ['/api', '/apis'].map(path =>
      api.json<DiscoveredGroups>(base + path, { accept: accepts.discovery, signal }).catch(error => {
        if (path === '/apis') throw error
        return {}
      }),
    ),
  )
  const found = new Map<string, Listable>()
  for (const listable of documents.flatMap(listablesIn)) {
    const name = nameOf(listable)
    if (!found.has(name)) found.set(name, listable)
  }
  return [...found.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

const listablesIn = ({ items = [] }: DiscoveredGroups): readonly Listable[] =>
  items.flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources
        .filter(({ verbs = [] }) => verbs.includes('list'))
        .map(({ resource, scope, verbs = [], responseKind }) => ({
          group: metadata?.name ?? '',
          version,
          resource,
          verbs,
          kind: responseKind?.kind ?? resource,
          isNamespaced: scope === 'Namespaced',
        })),
    ),
  )

/** `configmaps`, `widgets.example.com` */
export const nameOf = ({ group, resource }: Pick<Listable, 'group' | 'resource'>): string =>
  group === '' ? resource : `${resource}.${group}`

export const listPath = (base: string, { group, version, resource }: Listable): string =>
  `${base}${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`
