import { type FSWatcher, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from '../../framework/contract/log.ts'
import type { Host, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import {
  type Generation,
  type ReplaceableView,
  replaceableView,
} from '../../framework/plugins/replaceable.ts'
import type { LoadedViews, Supervising } from './viewplugins.ts'

/** The views of plugins, each of which is replaced when the files of its plugin change. */
export function reloadedFactories(
  plugins: readonly LoadedViews[],
  supervision: Omit<Supervising, 'until'>,
  log: Logger,
): readonly WorkspaceFactory[] {
  const all: Reloading[] = []
  return plugins.flatMap(plugin => {
    const reloading = new Reloading(plugin, all, supervision, log)
    all.push(reloading)
    return plugin.supervised(supervision).map((_, i) => host => reloading.first(i, host))
  })
}

/** Milliseconds in which the writes of an editor are collected. */
const gather = 30

class Reloading {
  readonly #supervision: Omit<Supervising, 'until'>
  readonly #log: Logger
  readonly #views = new Map<string, ReplaceableView>()
  readonly #watchers = new Map<string, FSWatcher>()
  /** Those of all plugins. */
  readonly #all: readonly Reloading[]
  #plugin: LoadedViews
  #host: Host | undefined
  #timer: NodeJS.Timeout | undefined
  #reload: Promise<void> = Promise.resolve()
  /** End the views that are not ready to replace the served ones yet. */
  #pending: readonly AbortController[] = []

  constructor(
    plugin: LoadedViews,
    all: readonly Reloading[],
    supervision: Omit<Supervising, 'until'>,
    log: Logger,
  ) {
    this.#plugin = plugin
    this.#all = all
    this.#supervision = supervision
    this.#log = log
  }

  /** The view of a factory of the plugin as it was loaded first. */
  first(i: number, host: Host) {
    this.#host = host
    const generation = this.#generation(this.#plugin, i)
    const replaceable = replaceableView(generation)
    this.#views.set(generation.view.name, replaceable)
    this.#watch(this.#plugin.files)
    return replaceable.view
  }

  #generation(plugin: LoadedViews, i: number): Generation {
    const end = new AbortController()
    const factory = plugin.supervised({ ...this.#supervision, until: end.signal })[i]
    if (factory === undefined || this.#host === undefined) throw new Error('there is no such view')
    try {
      return { view: factory(this.#host), end }
    } catch (error) {
      end.abort(error)
      throw error
    }
  }

  /** Editors replace files: the folders are watched. */
  #watch(files: readonly string[]): void {
    for (const folder of new Set(files.map(dirname)))
      if (!this.#watchers.has(folder))
        this.#watchers.set(folder, watch(folder, (_, name) => this.#changed(folder, name)).unref())
  }

  #changed(folder: string, name: string | null): void {
    if (name !== null && !this.#concerns(join(folder, name))) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#abandon(new Error('a file was saved before they were ready'))
      this.#reload = this.#reload.then(() => this.#again())
    }, gather)
  }

  /** Not all files that a plugin reads are known: JSON is not, nor is what a broken edit imports. Those of other plugins are. */
  #concerns(file: string): boolean {
    if (!/\.([cm]?[jt]s|json)$/.test(file)) return false
    const readers = this.#all.filter(each => each.#plugin.files.includes(file))
    return readers.length === 0 || readers.includes(this)
  }

  async #again(): Promise<void> {
    const since = performance.now()
    const { name } = this.#plugin.origin
    try {
      const next = await this.#plugin.again()
      await this.#replace(next).catch(error => {
        next.discard()
        throw error
      })
      this.#plugin = next
      this.#watch(next.files)
      const took = Math.round(performance.now() - since)
      this.#log.info({ plugin: name, milliseconds: took }, `views of ${name} reloaded`)
      process.stdout.write(`Reloaded ${name} in ${took} ms\n`)
    } catch (error) {
      const { message } = error as Error
      this.#log.error({ plugin: name }, `views of ${name} not reloaded, and served as before: ${message}`)
    }
  }

  /** All views are ready before the first one is replaced. */
  async #replace(next: LoadedViews): Promise<void> {
    try {
      const pairs = next.supervised(this.#supervision).map((_, i) => this.#pair(next, i))
      if (new Set(pairs.map(({ replaced }) => replaced)).size < this.#views.size)
        throw new Error('they are fewer than before: start the server again')
      const ready = await Promise.all(pairs.map(({ generation, replaced }) => replaced.prepare(generation)))
      this.#pending = []
      for (const replace of ready) replace()
    } catch (error) {
      this.#abandon(error)
      throw error
    }
  }

  /** A view, which is pending, and the one that it replaces. */
  #pair(next: LoadedViews, i: number) {
    const generation = this.#generation(next, i)
    this.#pending = [...this.#pending, generation.end]
    const { name, path } = generation.view
    const replaced = this.#views.get(name)
    if (replaced === undefined || replaced.view.path.pattern !== path.pattern)
      throw new Error(`the view ${JSON.stringify(name)} has another name or path: start the server again`)
    return { generation, replaced }
  }

  #abandon(reason: unknown): void {
    for (const end of this.#pending) end.abort(reason)
    this.#pending = []
  }
}
