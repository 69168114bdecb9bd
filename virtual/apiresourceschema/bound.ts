import type { ClusterName, Host, Item } from '../../framework/index.ts'
import type { APIBinding, APIExport } from '../../kcp/index.ts'
import { watchExports } from '../shared/exports/exports.ts'

/** The APIResourceSchemas of the exports that consumers have bound, in memory, kept up to date. */
export interface BoundSchemas {
  /** Sorted by name. Of two schemas with one name, that of the first binding by name. */
  of(consumer: ClusterName): readonly Item[]
  /**
   * Calls `changed` when the schemas of a consumer, or of any without an argument, may have changed. Returns a
   * function that removes the handler.
   */
  follow(changed: (consumer?: ClusterName) => void): () => void
  readonly synced: Promise<unknown>
}

export function watchBoundSchemas(host: Host): BoundSchemas {
  const { exports, schemas, bindings, synced } = watchExports(host)
  const followers = new Set<(consumer?: ClusterName) => void>()
  const tell = (consumer?: ClusterName): void => {
    for (const changed of followers) changed(consumer)
  }
  bindings.onEvent(({ item }) => tell(item.key.cluster))
  exports.onEvent(() => tell())
  schemas.onEvent(() => tell())

  /** The schemas of a binding in the phase `Bound`. */
  const behind = ({ object }: Item): readonly Item[] => {
    const { spec, status } = object as APIBinding
    const provider = status?.apiExportClusterName
    const name = spec?.reference?.export?.name
    if (status?.phase !== 'Bound' || !provider || name === undefined) return []
    const offered = (exports.get(provider, '', name)?.object as APIExport | undefined)?.spec?.resources
    return (offered ?? []).flatMap(({ schema }) => schemas.get(provider, '', schema) ?? [])
  }
  return {
    of(consumer) {
      const found = new Map<string, Item>()
      for (const binding of [...bindings.list(consumer)].sort(byName))
        for (const schema of behind(binding))
          if (!found.has(schema.key.name)) found.set(schema.key.name, schema)
      return [...found.values()].sort(byName)
    },
    follow(changed) {
      followers.add(changed)
      return () => void followers.delete(changed)
    },
    synced,
  }
}

const byName = (a: Item, b: Item): number => (a.key.name < b.key.name ? -1 : 1)
