import type { Informer } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { type ClusterContent, isBeingDeleted, type Stored } from '../bindings/content.ts'
import { createQueue } from './queue.ts'

/** Turns events into keys, and reconciles each key one at a time. */
export interface Controller {
  readonly name: string
  /** Runs in every server of the installation, because it fills the memory that requests use; others run in the leader. */
  readonly everywhere?: true
  /** Resolves after `signal` aborted and the running reconciles ended. May be called again then. */
  run(signal: AbortSignal): Promise<void>
  /** Resolves when nothing is queued or running. */
  idle(): Promise<void>
}

export interface ControllerDefinition {
  readonly name: string
  /** The informers and the keys that their events enqueue. */
  readonly sources: readonly {
    readonly informer: Pick<Informer, 'onEvent'>
    readonly keys: (event: ItemEvent) => readonly string[]
  }[]
  /**
   * Objects whose deletion waits for other objects: they are enqueued shortly after a terminating object changed or
   * was removed.
   */
  readonly terminating?: {
    readonly content: Pick<ClusterContent, 'subscribe'>
    readonly keys: (object: Stored) => readonly string[]
  }
  /** Returns after how many milliseconds to reconcile again, when no event will do that. */
  readonly reconcile: (key: string) => Promise<number | undefined>
}

/** Milliseconds in which changes of terminating objects are collected. */
const pause = 200

/** A controller subscribes when it runs, and first gets all existing objects. */
export function createController(definition: ControllerDefinition, log: Logger): Controller {
  const { name, sources, terminating: deletions, reconcile } = definition
  const queue = createQueue({
    name,
    log,
    reconcile: async key => {
      const again = await reconcile(key)
      if (again !== undefined) queue.addAfter(key, again)
    },
  })
  return {
    name,
    idle: () => queue.idle(),
    async run(signal) {
      const handle =
        (keys: ControllerDefinition['sources'][number]['keys']) =>
        (event: ItemEvent): void => {
          if (event.type !== 'BOOKMARK') for (const key of keys(event)) queue.add(key)
        }
      const removals = sources.map(({ informer, keys }) => informer.onEvent(handle(keys)))
      if (deletions !== undefined)
        removals.push(
          deletions.content.subscribe(({ resource }, { type, item }) => {
            if (type === 'ADDED' || (type === 'MODIFIED' && !isBeingDeleted(item))) return
            for (const key of deletions.keys({ resource, item })) queue.addAfter(key, pause)
          }),
        )
      await queue.run(signal)
      for (const remove of removals) remove()
    },
  }
}

/** `<cluster>|<name>`: the key of a cluster-scoped object. */
export const keyOf = ({ key: { cluster, name } }: Item): string => `${cluster}|${name}`

export const keyFor = (cluster: string, name: string): string => `${cluster}|${name}`

/** The inverse of `keyFor`. */
export function parseKey(key: string): { readonly cluster: string; readonly name: string } {
  const bar = key.indexOf('|')
  return { cluster: key.slice(0, bar), name: key.slice(bar + 1) }
}
