import type { Informer } from '../../framework/informer.ts'
import type { Item, ItemEvent } from '../../framework/item.ts'
import type { Logger } from '../../framework/log.ts'
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
    readonly informer: Informer
    readonly keys: (event: ItemEvent) => readonly string[]
  }[]
  /** May say after how many milliseconds to look again, when no change will tell. */
  readonly reconcile: (key: string) => Promise<number | undefined>
  /** Keys worked on at the same time; default 4. */
  readonly concurrency?: number
}

/** A controller starts to listen when it runs, and then first sees everything that is there. */
export function createController(definition: ControllerDefinition, log: Logger): Controller {
  const { name, sources, reconcile, concurrency } = definition
  const queue = createQueue({
    name,
    log,
    ...(concurrency === undefined ? {} : { concurrency }),
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
