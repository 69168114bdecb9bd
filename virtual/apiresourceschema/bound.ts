import type { ClusterName, Host, Item } from '../../framework/index.ts'
import type { APIBinding, APIExport } from '../../kcp/index.ts'
import { watchExports } from '../shared/exports/exports.ts'
import { Followers } from '../shared/watching/followers.ts'

/** The APIResourceSchemas of the exports that consumers have bound, in memory, kept up to date. */
export interface BoundSchemas {
  /** Sorted by name. Of two schemas with one name, that of the first binding by name. */
  of(consumer: ClusterName): readonly Item[]
  /** Calls `changed` when the schemas of a consumer may have changed. Returns a function that removes the handler. */
  follow(consumer: ClusterName, changed: () => void): () => void
  readonly synced: Promise<unknown>
}

export function watchBoundSchemas(host: Host): BoundSchemas {
  const { exports, schemas, bindings, bindingsOf, synced } = watchExports(host)
  const bySchema = exports.index(schemasOf)
  const followers = new Followers<ClusterName, () => void>()
  const tell = (consumers: readonly ClusterName[]): void => {
    for (const consumer of new Set(consumers)) for (const changed of followers.of(consumer)) changed()
  }
  const consumersOf = ({ key: { cluster, name } }: Item): readonly ClusterName[] =>
    bindingsOf({ provider: cluster, name }).map(({ key }) => key.cluster)
  bindings.onEvent(({ item }) => tell([item.key.cluster]))
  exports.onEvent(({ item }) => tell(consumersOf(item)))
  schemas.onEvent(({ item: { key } }) =>
    tell(bySchema(schemaKey(key.cluster, key.name)).flatMap(consumersOf)),
  )

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
    follow: (consumer, changed) => followers.add(consumer, changed),
    synced,
  }
}

const schemaKey = (cluster: ClusterName, name: string): string => `${cluster}|${name}`

const schemasOf = ({ key, object }: Item): readonly string[] =>
  ((object as APIExport).spec?.resources ?? []).map(({ schema }) => schemaKey(key.cluster, schema))

const byName = (a: Item, b: Item): number => (a.key.name < b.key.name ? -1 : 1)
