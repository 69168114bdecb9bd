import {
  type ClusterName,
  type Item,
  matchesFields,
  matchesLabels,
  type Selection,
} from '../../framework/index.ts'

import type { BoundSchemas } from './bound.ts'

/** What a consumer sees, and the resourceVersion of exactly that. */
export interface State {
  readonly items: readonly Item[]
  readonly version: number
}

/** The states of consumers, each with a version of its own. */
export interface States {
  of(consumer: ClusterName): State
}

/**
 * What a consumer sees changes with bindings, too, which have no part in the schemas' resourceVersions. So every new state
 * gets a version: later than the last one, and than `start()`, the store's version when this process began. Every change
 * has cost a write, so that versions never run ahead of the store's, and none is given twice.
 */
export function versionedStates(bound: BoundSchemas, start: () => number): States {
  const known = new Map<ClusterName, { readonly content: string; readonly version: number }>()
  return {
    of(consumer) {
      const items = bound.of(consumer)
      const content = items.map(({ meta }) => `${meta.uid}@${meta.resourceVersion}`).join(' ')
      const last = known.get(consumer)
      if (last?.content === content) return { items, version: last.version }
      const newest = Math.max(start(), ...items.map(({ meta }) => Number(meta.resourceVersion)))
      const version = last === undefined ? newest : Math.max(last.version + 1, newest)
      known.set(consumer, { content, version })
      return { items, version }
    },
  }
}

/** Schemas are in no namespace; their name is the only field to select by. */
export const isSelected = ({ key, meta }: Item, { labels, fields }: Selection): boolean =>
  (labels === undefined || matchesLabels(labels, meta.labels)) &&
  matchesFields(fields, field => (field === 'metadata.name' ? key.name : ''))
