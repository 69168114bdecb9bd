import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { type ClusterName, groupResource } from '../../framework/meta/object.ts'
import { malformedBy } from '../entries/wellformed.ts'

/** Objects that a line names, and characters for each. */
const mostNamed = 10
const mostText = 500

/** Logs the malformed objects of another shard, each revision once: one line for a logical cluster, which names ten of them. */
export class MalformedObjects {
  readonly #log: Logger
  readonly #logged = new Map<ClusterName, ReadonlySet<string>>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** `sent`: all objects that the shard has of the logical cluster. */
  report(
    cluster: ClusterName,
    sent: Iterable<{ readonly resource: ResourceRef; readonly item: Item }>,
  ): void {
    const logged = this.#logged.get(cluster)
    const now = new Set<string>()
    const objects: string[] = []
    for (const { resource, item } of sent) {
      const problem = malformedBy(resource, item)
      if (problem === undefined) continue
      const name = `${groupResource(resource.group, resource.resource)} ${item.key.name}`
      const revision = `${name} ${item.meta.resourceVersion}`
      now.add(revision)
      if (logged?.has(revision) !== true) objects.push(`${name}: ${problem}`.slice(0, mostText))
    }
    if (now.size > 0) this.#logged.set(cluster, now)
    else this.#logged.delete(cluster)
    if (objects.length === 0) return
    const fields = { cluster, count: objects.length, objects: objects.slice(0, mostNamed) }
    this.#log.warn(fields, 'malformed objects of another shard are not copied')
  }
}
