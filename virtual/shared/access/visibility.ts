import { type Awaitable, Pace } from '../../../framework/async/awaitable.ts'
import type { ClusterName, ClusterScope, Item, RequestContext } from '../../../framework/index.ts'
import type { Access } from './access.ts'

/** Which objects of a resource a user sees. */
export interface Visibility {
  readonly access: Access
  /** Resolves when permissions and objects are known. */
  ready(signal: AbortSignal): Promise<void>
  isVisible(ctx: RequestContext, item: Item): Awaitable<boolean>
  /** The current objects of a scope. */
  all(cluster: ClusterScope): readonly Item[]
  /** The logical clusters whose permissions decide about an object. */
  dependsOn(item: Item): readonly ClusterName[]
  /** The current objects whose visibility depends on permissions in a logical cluster. */
  dependingOn(cluster: ClusterName): readonly Item[]
  /** The logical clusters of other shards on which the visibility of objects depends. */
  elsewhere(cluster: ClusterScope): readonly ClusterName[]
}

/** Objects that are decided about at once, by requests where another server decides. */
const together = 32

/** Whether a user sees the items, in their order; other requests have their turns. */
export async function areVisible(
  { isVisible }: Visibility,
  ctx: RequestContext,
  items: readonly Item[],
): Promise<readonly boolean[]> {
  const pace = new Pace()
  const all: boolean[] = []
  for (let i = 0; i < items.length; i += together) {
    await pace.due()
    all.push(...(await Promise.all(items.slice(i, i + together).map(item => isVisible(ctx, item)))))
  }
  return all
}

/** The items that a user sees. */
export async function visibleOf(
  visibility: Visibility,
  ctx: RequestContext,
  items: Iterable<Item>,
): Promise<readonly Item[]> {
  const all = [...items]
  const visible = await areVisible(visibility, ctx, all)
  return visible.every(Boolean) ? all : all.filter((_, i) => visible[i])
}
