import { LRUCache } from 'lru-cache'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import type { Incoming } from '../request/incoming.ts'
import { resolveUrl, type Target, type Unresolved } from './resolve.ts'

/** What URLs ask for. Throws a 4xx `StatusError` for those that nothing could answer. */
export type Routes = (incoming: Pick<Incoming, 'method' | 'path' | 'search' | 'query'>) => Target | Unresolved

/** So many for each method; clients ask for the same again and again. */
const most = 500
const longestKept = 512

/** Reads URLs, and remembers what it has read: that depends on method and URL, and on nothing else. */
export function createRoutes(workspaces: readonly VirtualWorkspace[]): Routes {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
  const known = new Map(methods.map(m => [m, new LRUCache<string, Target | Unresolved>({ max: most })]))
  return incoming => {
    const { method, path, search } = incoming
    const url = search === '' ? path : path + search
    const ofMethod = known.get(method)
    const found = ofMethod?.get(url)
    if (found !== undefined) return found
    const read = resolveUrl(workspaces, incoming)
    if (url.length <= longestKept) ofMethod?.set(url, read)
    return read
  }
}
