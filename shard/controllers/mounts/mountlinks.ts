import { isDeepStrictEqual } from 'node:util'
import type { Informer } from '../../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { keyOf } from '../controller.ts'
import type { KcpControllerDeps } from '../deps.ts'
import { mountOf } from './mountref.ts'

/** What is wrong with where a link leads. */
export type LinkProblem = 'loop' | 'nowhere'

/**
 * Follows a URL of this tree as far as this shard knows it; undefined for other URLs, and for links that lead somewhere.
 * Beside other shards nobody here can say that something is nowhere.
 */
export function linkProblem(
  { informers, place, shard, tenancy }: KcpControllerDeps,
  url: string,
): LinkProblem | undefined {
  const path = pathIn(shard.externalURL, url)
  if (path === undefined) return undefined
  const found = place(path)
  if (found?.kind === 'loop') return 'loop'
  const isAlone = informers.for(tenancy.shards).list('root').length <= 1
  return found === undefined && isAlone ? 'nowhere' : undefined
}

function pathIn(externalURL: string, url: string): string | undefined {
  const prefix = `${externalURL}/clusters/`
  return url.startsWith(prefix) ? url.slice(prefix.length).replace(/\/$/, '') : undefined
}

/** Calls `changed` with every link when workspaces come, go or lead elsewhere: any of them may be on the way. */
export function followLinks(
  { informers, shard, tenancy }: KcpControllerDeps,
  changed: (key: string) => void,
): () => void {
  const workspaces = informers.for(tenancy.workspaces)
  const links = workspaces.index(linksOf(shard.externalURL))
  return workspaces.onEvent(event => {
    const all = links('')
    if (all.length > 0 && movesSomething(event)) for (const link of all) changed(keyOf(link))
  })
}

const linksOf =
  (externalURL: string): Parameters<Informer['index']>[0] =>
  ({ object }) => {
    const { spec } = object as Workspace
    const isLink =
      mountOf(object as Workspace) !== undefined && pathIn(externalURL, spec?.URL ?? '') !== undefined
    return isLink ? [''] : []
  }

const movesSomething = ({ type, item, previous }: ItemEvent): boolean =>
  type === 'ADDED' ||
  type === 'DELETED' ||
  previous === undefined ||
  !isDeepStrictEqual(way(item), way(previous))

function way({ object }: Item): readonly unknown[] {
  const { spec, status } = object as Workspace
  return [spec?.URL, spec?.cluster, status?.phase]
}
