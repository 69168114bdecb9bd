import { clusterAnnotation } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { differencesOf } from './differences.ts'

/** The objects that were printed, and what changes in them as lines of text. */
export class Changes {
  #known = new Map<string, KubeObject>()

  /** The lines for a whole list: those of objects that are new, changed or gone. */
  list(items: readonly KubeObject[]): readonly string[] {
    const gone = new Map(this.#known)
    for (const item of items) gone.delete(nameOf(item))
    const lines = items.flatMap(item => this.#put(item))
    return [...lines, ...[...gone.values()].flatMap(item => this.#remove(item))]
  }

  /** The lines for an event of a watch. */
  event(type: string, object: KubeObject): readonly string[] {
    if (type === 'DELETED') return this.#remove(object)
    return type === 'ADDED' || type === 'MODIFIED' ? this.#put(object) : []
  }

  #put(object: KubeObject): readonly string[] {
    const name = nameOf(object)
    const before = this.#known.get(name)
    this.#known.set(name, object)
    if (before === undefined) return [`+ ${name}`]
    const differences = differencesOf(before, object)
    return differences.length === 0 ? [] : [`~ ${name}`, ...differences.map(line => `    ${line}`)]
  }

  #remove(object: KubeObject): readonly string[] {
    const name = nameOf(object)
    return this.#known.delete(name) ? [`- ${name}`] : []
  }
}

/** `<cluster> <namespace>/<name>`, without the parts that there are not. */
function nameOf({ metadata }: KubeObject): string {
  const cluster = metadata.annotations?.[clusterAnnotation]
  const name = [metadata.namespace, metadata.name].filter(part => part !== undefined).join('/')
  return cluster === undefined ? name : `${cluster} ${name}`
}
