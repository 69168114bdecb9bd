import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client, Frame, Reply } from '../../support/client.ts'

/** An object in a stream: `<logical cluster>/<namespace>/<name>`, and the number of the write that it shows. */
export interface Seen {
  readonly id: string
  readonly value: number
  readonly version: number
  readonly object: KubeObject
}

/** The label with the number of a write. */
export const valueLabel = 'value'

/** An object as a stream shows it. */
export const seenIn = (object: KubeObject): Seen => {
  const { name, namespace = '', annotations, labels, resourceVersion } = object.metadata
  return {
    id: `${annotations?.['kcp.io/cluster']}/${namespace}/${name}`,
    value: Number(labels?.[valueLabel] ?? 0),
    version: Number(resourceVersion),
    object,
  }
}

interface FollowerOptions {
  readonly client: Client
  readonly path: string
  /** Called when the objects have changed. */
  readonly changed?: () => void
  /** Whether the resource must be served now. */
  readonly isServed: () => boolean
  /** Whether a watch that ends is continued: versions of one shard mean nothing on another one. */
  readonly resumes: boolean
}

/**
 * Follows one resource at one URL as client-go does: a list, then watches from there. A watch that ends is continued; after 410
 * the list is read again. `problems` has the events that a client must not get.
 */
export class Follower {
  readonly shown = new Map<string, Seen>()
  readonly problems: string[] = []
  /** The resource is not served there (any more). */
  isOver = false
  readonly #options: FollowerOptions
  readonly #leaving = new Set<() => void>()
  #isStopped = false
  #resumedAt = 0
  /** What happened lately, for messages. */
  readonly #log: string[] = []

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#run().catch(error => this.#end(this.#isStopped || !options.isServed() ? undefined : String(error)))
  }

  stop(): void {
    this.#isStopped = true
    for (const leave of this.#leaving) leave()
  }

  async #run(): Promise<void> {
    for (;;) {
      let version = await this.#list()
      if (version === undefined) return this.#end()
      while (version !== undefined && !this.#isStopped) version = await this.#watch(version)
      if (this.#isStopped) return this.#end()
    }
  }

  #end(problem?: string): void {
    if (problem !== undefined) this.problems.push(problem)
    this.isOver = true
    this.shown.clear()
    this.#options.changed?.()
  }

  /** The version of the list; undefined where the resource is not served. */
  async #list(): Promise<string | undefined> {
    const reply: Reply = await this.#options.client(this.#options.path)
    if (reply.status !== 200) return this.#refused('a list', reply)
    const { items = [], metadata } = reply.json()
    this.#note(`list at ${metadata.resourceVersion}`)
    this.shown.clear()
    for (const object of items) this.#keep(seenIn(object))
    this.#options.changed?.()
    return metadata.resourceVersion
  }

  /** Returns where the next watch begins; undefined for a list. */
  async #watch(from: string): Promise<string | undefined> {
    const { client, path } = this.#options
    const stream = await client.watch(`${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${from}`)
    this.#leaving.add(stream.leave)
    try {
      if (stream.status !== 200) return this.#refused('a watch', stream)
      let version: string | undefined = from
      this.#resumedAt = Number(from)
      this.#note(`watch from ${from}`)
      for (let frame = await stream.next(); frame !== undefined; frame = await stream.next()) {
        version = this.#apply(frame)
        if (version === undefined) return undefined
      }
      return this.#options.resumes ? version : undefined
    } finally {
      this.#leaving.delete(stream.leave)
      stream.leave()
    }
  }

  #apply({ type, object }: Frame): string | undefined {
    if (type === 'ERROR') return this.#refused('an event', { status: object.code ?? 0 })
    const version = object.metadata.resourceVersion
    if (type === 'BOOKMARK') return version
    const next = seenIn(object as KubeObject)
    const known = this.shown.get(next.id)
    const problem = problemOf(type, known, next)
    this.#note(`${type} ${next.id} value ${next.value} version ${version}`)
    // Several events have the version of a binding that shows or hides objects: a watch that resumes there gets all of them again.
    if (problem !== undefined && next.version !== this.#resumedAt)
      this.problems.push(`${problem}: ${this.#log.join(', ')}`)
    if (type === 'DELETED') this.shown.delete(next.id)
    else this.#keep(next)
    this.#options.changed?.()
    return version
  }

  #refused(what: string, { status }: { readonly status: number }): undefined {
    // 401: a shard has other tokens after a restart.
    if (![401, 410, 503].includes(status) && this.#options.isServed())
      this.problems.push(`${what} was refused with ${status}`)
  }

  #note(what: string): void {
    this.#log.push(what)
    if (this.#log.length > 12) this.#log.shift()
  }

  #keep(seen: Seen): void {
    this.shown.set(seen.id, seen)
  }
}

/** Every write is one event: objects have the number of their last write. */
function problemOf(type: string, known: Seen | undefined, next: Seen): string | undefined {
  if (type === 'ADDED') return known === undefined ? undefined : 'repeated'
  if (known === undefined) return 'lost ADDED'
  if (isRepeated(type, known, next)) return `repeated version ${known.version}`
  if (type === 'MODIFIED' && next.value > known.value + 1) return `lost writes after ${known.value}`
  return next.value < known.value ? `went back from ${known.value}` : undefined
}

/** One commit of a migration removes a binding, which changes the labels of an object, and the object: both events have its version. */
function isRepeated(type: string, known: Seen, next: Seen): boolean {
  if (next.version !== known.version) return next.version < known.version
  return type !== 'DELETED' && isDeepStrictEqual(next.object, known.object)
}
