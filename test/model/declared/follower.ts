import assert from 'node:assert/strict'
import type { ItemEvent, KubeObject } from '../../../framework/index.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import { type DeclaredWorld, idOf, readOf } from './world.ts'

/** An informer over a View: lists, watches, resumes, and lists again after 410. */
export class Follower {
  readonly view: string
  readonly user: string
  readonly scope: string
  /** What it has, by logical cluster and name. */
  readonly state = new Map<string, string>()
  readonly counts = { events: 0, expired: 0, resumed: 0 }
  readonly #world: DeclaredWorld
  /** Whether the content of an event was shown to this user at some time. */
  readonly #mayShow: (follower: Follower, read: string, id: string) => boolean
  #position = ''
  #stop = new AbortController()
  problem: unknown

  constructor(
    world: DeclaredWorld,
    about: { readonly view: string; readonly user: string; readonly scope: string },
    mayShow: (follower: Follower, read: string, id: string) => boolean,
  ) {
    this.#world = world
    this.view = about.view
    this.user = about.user
    this.scope = about.scope
    this.#mayShow = mayShow
  }

  async start(): Promise<void> {
    await this.#list()
    void this.#follow()
  }

  /** Ends the watch. */
  end(): void {
    this.#stop.abort()
  }

  /** Continues an ended watch after its last event. */
  resume(): void {
    if (!this.#stop.signal.aborted) return
    this.counts.resumed++
    this.#stop = new AbortController()
    void this.#follow()
  }

  async #list(): Promise<void> {
    const ctx = this.#world.contextOf(this.user, this.scope)
    const list = this.#world.storageOf(this.view).list(ctx, { cluster: this.scope })
    this.state.clear()
    let next = await list.next()
    for (; !next.done; next = await list.next())
      for (const { object } of next.value) this.state.set(idOf(object), this.#read(object))
    this.#position = next.value.resourceVersion
  }

  #read(object: KubeObject): string {
    const read = readOf(object)
    assert.ok(this.#mayShow(this, read, idOf(object)), `LEAK: ${this.view} showed ${read} to ${this.user}`)
    return read
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        const ctx = { ...this.#world.contextOf(this.user, this.scope, 'watch'), signal }
        const query = {
          cluster: this.scope,
          resourceVersion: this.#position,
          initialEvents: false,
          bookmarks: true,
        }
        const watch = this.#world.storageOf(this.view).watch(ctx, query)
        for await (const events of watch) {
          if (signal.aborted) return
          for (const event of events) this.#apply(event)
        }
        if (!signal.aborted) throw new Error('the watch ended')
      } catch (error) {
        if (signal.aborted) return
        const isExpected =
          error instanceof StatusError && error.code === 410 && !/too often/.test(error.message)
        if (!isExpected) {
          this.problem = error
          return
        }
        this.counts.expired++
        await this.#list()
      }
    }
  }

  #apply({ type, item }: ItemEvent): void {
    this.#position = item.meta.resourceVersion
    if (type === 'BOOKMARK') return
    this.counts.events++
    const id = idOf(item.object)
    const read = this.#read(item.object)
    const about = `${type} ${read} in ${this.view} for ${this.user}`
    assert.equal(this.state.has(id), type !== 'ADDED', `not exact: ${about}`)
    if (type === 'DELETED') this.state.delete(id)
    else this.state.set(id, read)
  }
}
