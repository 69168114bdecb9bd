import { turn } from '../../../framework/async/turn.ts'
import { valuesAndWakes, Wake } from '../../../framework/async/wake.ts'
import {
  expired,
  type ItemEvent,
  type ItemWatch,
  type RequestContext,
  type ResourceStorage,
  type WatchQuery,
} from '../../../framework/index.ts'
import { newestRevision } from '../watching/newestrevision.ts'
import { SentItems } from './sentitems.ts'
import type { Visibility } from './visibility.ts'

export interface VisibleWatching {
  readonly storage: ResourceStorage
  readonly visibility: Visibility
}

/** Milliseconds after which access to logical clusters of other shards is reviewed again: their changes are not seen here. */
const again = 5_000

/**
 * A watch that also follows access: an object is ADDED when the user gets access, and DELETED when the user loses it.
 * Throws 410 when access has changed since the requested version.
 */
export async function* watchVisible(
  { storage, visibility }: VisibleWatching,
  { signal, ...ctx }: RequestContext,
  query: WatchQuery,
): ItemWatch {
  await visibility.ready(signal)
  const ended = new AbortController()
  const request = { ...ctx, signal: AbortSignal.any([signal, ended.signal]) }
  const watch = new VisibleWatch({ storage, visibility }, request, query)
  const stop = watch.follow()
  try {
    yield* watch.events()
  } finally {
    ended.abort()
    stop()
  }
}

class VisibleWatch {
  readonly #watching: VisibleWatching
  readonly #ctx: RequestContext
  readonly #query: WatchQuery
  readonly #sent: SentItems
  readonly #wake = new Wake()
  /** The version from which the watch resumes; undefined without one. */
  readonly #from: number | undefined
  #isLate = false

  constructor(watching: VisibleWatching, ctx: RequestContext, query: WatchQuery) {
    this.#watching = watching
    this.#ctx = ctx
    this.#query = query
    this.#sent = new SentItems(watching.visibility, ctx, query)
    const { initialEvents, resourceVersion = '' } = query
    const isResumed = !initialEvents && resourceVersion !== '' && resourceVersion !== '0'
    this.#from = isResumed ? Number(resourceVersion) : undefined
  }

  /** Follows changes of access. Returns a function that ends it. */
  follow(): () => void {
    const { access, elsewhere } = this.#watching.visibility
    const stop = access.history.follow(this.#query.cluster, (cluster, revision) => {
      // A change before the version of the watch that arrives after its begin.
      if (revision > 0 && this.#from !== undefined && revision <= this.#from) this.#isLate = true
      this.#suspect(cluster)
    })
    const timer = setInterval(() => {
      for (const cluster of elsewhere(this.#query.cluster)) this.#suspect(cluster)
    }, again)
    return () => {
      clearInterval(timer)
      stop()
    }
  }

  #suspect(cluster: string): void {
    this.#sent.suspect(cluster)
    this.#wake.ring()
  }

  async *events(): ItemWatch {
    this.#refuseOld()
    const { storage } = this.#watching
    const inner = storage.watch(this.#ctx, this.#query)
    if (!this.#query.initialEvents) yield* nonEmpty(await this.#started())
    for await (const batch of valuesAndWakes(inner, this.#wake)) {
      // One change of permissions wakes many watches.
      if (batch === undefined) await turn()
      if (this.#isLate) throw changedSince(this.#query)
      yield* nonEmpty(await this.#sent.reviewed())
      if (batch !== undefined) yield* nonEmpty(await this.#sent.filtered(batch))
    }
  }

  async #started(): Promise<readonly ItemEvent[]> {
    const { cluster } = this.#query
    return this.#sent.start(await newestRevision(this.#watching.storage, this.#ctx, { cluster }))
  }

  #refuseOld(): void {
    if (this.#from === undefined) return
    const { access, all, dependsOn } = this.#watching.visibility
    const { cluster } = this.#query
    const clusters = cluster === '*' ? ['*'] : [cluster, ...all(cluster).flatMap(dependsOn)]
    if (access.history.hasChanged(clusters, this.#from)) throw changedSince(this.#query)
  }
}

const changedSince = ({ resourceVersion }: WatchQuery): Error =>
  expired(`too old resource version: ${resourceVersion} (access has changed since)`)

function* nonEmpty(events: readonly ItemEvent[]): Generator<readonly ItemEvent[], void> {
  if (events.length > 0) yield events
}
