import type { ClusterName, Host, Item } from '../../framework/index.ts'
import type { APIBinding, APIExport } from '../../kcp/index.ts'
import { watchExports } from '../shared/exports/exports.ts'

/** The APIResourceSchemas behind the bindings of consumers: look-ups in memory, kept up to date. */
export interface BoundSchemas {
  /** Sorted by name. Of two providers' schemas of one name, the one that the first binding by name leads to. */
  of(consumer: ClusterName): readonly Item[]
  /** Something may have changed: for one consumer, or for any when none is named. Returns the end of it. */
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

  /** Of a binding that is Bound (chapter 10, section 7). */
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
