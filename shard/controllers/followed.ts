import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import type { ItemEvent } from '../../framework/contract/item.ts'

/** Changes of resources that are named while a controller runs. */
export interface Followed extends Pick<Informer, 'onEvent'> {
  /** From now on, once and for all. */
  follow(resource: ResourceRef): void
}

export function followResources(informers: Informers): Followed {
  const followed = new Set<Informer>()
  const handlers = new Set<(event: ItemEvent) => void>()
  const tell = (event: ItemEvent): void => {
    for (const handler of handlers) handler(event)
  }
  return {
    follow(resource) {
      const informer = informers.for(resource)
      if (followed.has(informer)) return
      followed.add(informer)
      informer.onEvent(tell)
    },
    onEvent(handler) {
      handlers.add(handler)
      return () => void handlers.delete(handler)
    },
  }
}
