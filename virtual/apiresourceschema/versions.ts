import {
  type ClusterName,
  type Item,
  matchesFields,
  matchesLabels,
  type Selection,
} from '../../framework/index.ts'

import type { BoundSchemas } from './bound.ts'

/** The schemas of a consumer and their resourceVersion. */
export interface State {
  readonly items: readonly Item[]
  readonly version: number
}

interface KnownState {
  readonly content: string
  readonly version: number
}

/** The states of consumers, each with its own resourceVersion. */
export interface States {
  of(consumer: ClusterName): State
}

/** Consumers whose states are remembered: tenants choose how many there are. */
const mostKnown = 1_000

/**
 * The schemas of a consumer also change with its bindings. Each new state gets a version later than the last one
 * and than `start()`, the version of the store at the start of this process, and than those of forgotten states. Every change
 * is a write in the store, so that versions never exceed those of the store.
 */
export function versionedStates(bound: BoundSchemas, start: () => number): States {
  const known = new Map<ClusterName, KnownState>()
  let forgotten = 0
  const remember = (consumer: ClusterName, state: KnownState): void => {
    known.delete(consumer)
    known.set(consumer, state)
    const [oldest] = known.keys()
    if (known.size <= mostKnown || oldest === undefined) return
    forgotten = Math.max(forgotten, known.get(oldest)?.version ?? 0)
    known.delete(oldest)
  }
  return {
    of(consumer) {
      const items = bound.of(consumer)
      const content = items.map(({ meta }) => `${meta.uid}@${meta.resourceVersion}`).join(' ')
      const last = known.get(consumer)
      if (last?.content === content) return { items, version: last.version }
      const newest = Math.max(start(), forgotten, ...items.map(({ meta }) => Number(meta.resourceVersion)))
      const version = last === undefined ? newest : Math.max(last.version + 1, newest)
      remember(consumer, { content, version })
      return { items, version }
    },
  }
}

/** Schemas are cluster-scoped; `metadata.name` is the only field. */
export const isSelected = ({ key, meta }: Item, { labels, fields }: Selection): boolean =>
  (labels === undefined || matchesLabels(labels, meta.labels)) &&
  matchesFields(fields, field => (field === 'metadata.name' ? key.name : ''))
