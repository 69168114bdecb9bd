import { cacheGroup, viewsGroup } from './apigroups.ts'
import type { APIExport, ExportedResource } from './apis.ts'
import type { ClusterCachedResource } from './cache.ts'

/** Objects that others read when an object is written: its author has to be allowed to read them. */
export interface ReadObjects {
  /** The field that names them. */
  readonly field: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  /** '' for all objects of the resource. */
  readonly name: string
}

export const readingVerbs: readonly string[] = ['get', 'list', 'watch']

/** What the Views show that an export offers, without those that it offered before: another uid is another View. */
export function viewsOffered(next: APIExport, old: APIExport | undefined): readonly ReadObjects[] {
  const known = (old?.spec?.resources ?? []).map(viewOf)
  return (next.spec?.resources ?? []).flatMap((resource, i) => {
    const view = viewOf(resource)
    if (view === undefined || known.some(each => each?.name === view.name && each.uid === view.uid)) return []
    const field = `spec.resources[${i}].storage.virtual`
    return [{ field, group: viewsGroup, resource: 'views', subresource: 'content', name: view.name }]
  })
}

interface OfferedView {
  readonly name: string
  readonly uid: string
}

function viewOf({ storage }: ExportedResource): OfferedView | undefined {
  if (storage?.virtual === undefined) return undefined
  const { reference, identityHash: uid } = storage.virtual
  const { apiGroup, kind, name } = reference
  return apiGroup === viewsGroup && kind === 'View' ? { name, uid } : undefined
}

/** The resource of a ClusterCachedResource, unless it published the same before. */
export function resourceCached(
  { spec }: ClusterCachedResource,
  old: ClusterCachedResource | undefined,
): readonly ReadObjects[] {
  const { group = '', resource } = spec
  const isKnown = old?.spec.resource === resource && (old.spec.group ?? '') === group
  return isKnown ? [] : [{ field: 'spec.resource', group, resource, subresource: '', name: '' }]
}

export const cachedResources = `clustercachedresources.${cacheGroup}`

/** `views/content.views.oriel.dev "public"`: the objects in a message. */
export function printPublished({ group, resource, subresource, name }: ReadObjects): string {
  const plural = subresource === '' ? resource : `${resource}/${subresource}`
  const text = group === '' ? plural : `${plural}.${group}`
  return name === '' ? text : `${text} ${JSON.stringify(name)}`
}
