import type { Informer } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { ClusterContent, Stored } from '../bindings/content.ts'
import { createQueue } from './queue.ts'

/** Work that follows changes: events become keys, keys are reconciled one at a time each. */
export interface Controller {
  readonly name: string
  /** Resolves after `signal` aborted and the running reconciles ended. */
  run(signal: AbortSignal): Promise<void>
  /** Resolves when there is nothing to do. */
  idle(): Promise<void>
}

export interface ControllerDefinition {
  readonly name: string
  /** Whose changes are whose work. */
  readonly sources: readonly {
    readonly informer: Pick<Informer, 'onEvent'>
    readonly keys: (event: ItemEvent) => readonly string[]
  }[]
  /** Whose deletion waits for others to go: they are looked at again a little after one of those has got on. */
  readonly departures?: {
    readonly content: Pick<ClusterContent, 'onDeparture'>
    readonly keys: (departing: Stored) => readonly string[]
  }
  /** May say after how many milliseconds to look again, when no change will tell. */
  readonly reconcile: (key: string) => Promise<number | undefined>
}

/** Milliseconds in which many departures become one look. */
const pause = 200

/** A controller starts to listen when it runs, and then first sees everything that is there. */
export function createController(definition: ControllerDefinition, log: Logger): Controller {
  const { name, sources, departures, reconcile } = definition
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
      if (departures !== undefined)
        removals.push(
          departures.content.onDeparture(departing => {
            for (const key of departures.keys(departing)) queue.addAfter(key, pause)
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

/** The way back. */
export function parseKey(key: string): { readonly cluster: string; readonly name: string } {
  const bar = key.indexOf('|')
  return { cluster: key.slice(0, bar), name: key.slice(bar + 1) }
}
