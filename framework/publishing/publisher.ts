import { setTimeout as sleep } from 'node:timers/promises'
import { Pace } from '../async/awaitable.ts'
import { Backoff } from '../async/backoff.ts'
import type { Backend, ResourceRef } from '../contract/backend.ts'
import type { Informer, Informers } from '../contract/informer.ts'
import { type Item, type ItemEvent, isCopied } from '../contract/item.ts'
import type { Logger } from '../contract/log.ts'
import { loopbackContext } from '../contract/loopback.ts'
import type { UrlPublisher, VirtualWorkspace } from '../contract/workspace.ts'
import type { KubeObject } from '../meta/object.ts'

/** The base URLs of views: scheme, host, port and an optional path, such as `spec.virtualWorkspaceURL` of a shard. */
export interface ViewUrls {
  /** The URL of this server for other servers of the installation. */
  readonly own: string
  /** One per shard with views, that of this server first. */
  current(): readonly string[]
  /** Whether the shard of this server has labels that match the selector; absent: it matches all. */
  isSelected?(selector: string): boolean
  /** Returns a function that removes the handler. */
  onChange(handler: () => void): () => void
}

/** A single URL that does not change. */
export const onlyUrl = (url: string): ViewUrls => ({
  own: url,
  current: () => [url],
  onChange: () => () => undefined,
})

export interface Publishing {
  readonly workspaces: readonly VirtualWorkspace[]
  readonly backend: Backend
  readonly informers: Informers
  readonly log: Logger
  readonly viewUrls: ViewUrls
  readonly signal: AbortSignal
}

/** Keeps the URLs of all views in the status of the objects that list them. Resolves after `signal` aborts. */
export async function publishUrls(publishing: Publishing): Promise<void> {
  await Promise.all(
    publishing.workspaces.map(async workspace => {
      const { publisher } = workspace
      if (publisher !== undefined) await keepPublished(publishing, { workspace, publisher })
    }),
  )
}

interface Publisher {
  readonly workspace: VirtualWorkspace
  readonly publisher: UrlPublisher
}

/** Milliseconds in which changes are collected: changes of bindings often come in groups. */
const gather = 20
const pauses = { first: 200, longest: 30_000 }

/** Objects to reconcile. */
interface Work {
  readonly items: Set<Item>
  /** A change affects all objects. */
  all: boolean
  wake(): void
}

async function keepPublished(publishing: Publishing, of: Publisher): Promise<void> {
  const { informers, signal } = publishing
  const objects = informers.for(of.publisher.objects)
  const others = of.publisher.dependsOn.map(ref => informers.for(ref))
  await unlessAborted(signal, Promise.all([objects, ...others].map(informer => informer.synced)))
  const work: Work = { items: new Set(), all: true, wake: () => undefined }
  const stops = [
    ...subscribe(work, of.publisher, objects, others),
    publishing.viewUrls.onChange(() => republishAll(work)),
  ]
  const backoff = new Backoff(pauses)
  while (!signal.aborted) {
    const failed = await publishWork(publishing, of, objects, work)
    for (const item of failed) work.items.add(item)
    if (failed.length > 0) await backoff.pause(signal)
    else backoff.reset()
    await nextWork(work, signal)
  }
  for (const stop of stops) stop()
}

function subscribe(
  work: Work,
  publisher: UrlPublisher,
  objects: Informer,
  others: readonly Informer[],
): readonly (() => void)[] {
  const stopObjects = objects.onEvent(({ type, item }) => {
    if (type !== 'DELETED') work.items.add(item)
    work.wake()
  })
  const changed = ({ item }: ItemEvent): void => {
    const dependents = publisher.dependents?.(item.object)
    if (dependents === undefined) work.all = true
    for (const dependent of dependents ?? []) work.items.add(dependent)
    if (dependents?.length !== 0) work.wake()
  }
  return [stopObjects, ...others.map(informer => informer.onEvent(changed))]
}

function republishAll(work: Work): void {
  work.all = true
  work.wake()
}

/** Reconciles the objects; returns those that failed. */
async function publishWork(
  publishing: Publishing,
  of: Publisher,
  objects: Informer,
  work: Work,
): Promise<readonly Item[]> {
  const items = work.all ? objects.list() : [...work.items]
  work.all = false
  work.items.clear()
  const failed: Item[] = []
  const pace = new Pace()
  for (const { key } of items) {
    const wait = pace.due()
    if (wait !== undefined) await wait
    const item = objects.get(key.cluster, key.namespace, key.name)
    if (item === undefined || isCopied(item.meta) || publishing.signal.aborted) continue
    try {
      await publishOne(publishing, of, item)
    } catch (error) {
      publishing.log.warn(
        { workspace: of.workspace.name, key, error: String(error) },
        'publishing view URLs failed, retrying',
      )
      failed.push(item)
    }
  }
  return failed
}

async function publishOne(publishing: Publishing, of: Publisher, item: Item): Promise<void> {
  const { workspace, publisher } = of
  const views = publisher.views(item.object)
  if (views === undefined) return
  const paths = views.map(params => workspace.path.format(params))
  const published = (object: KubeObject): KubeObject =>
    publisher.publish(object, urlsFor(publisher, publishing.viewUrls, paths, object))
  if (published(item.object) === item.object) return
  const { backend, log, signal } = publishing
  const resource: ResourceRef = { ...publisher.objects, subresource: 'status' }
  const ctx = loopbackContext({ verb: 'update', resource, cluster: item.key.cluster, signal, log })
  const options = { dryRun: false, fieldManager: workspace.name }
  const change = ({ object }: Item): KubeObject => withoutVersion(published(object))
  await backend.storage(resource).update(ctx, item.key, change, options)
}

/** The URLs of the paths on all shards; where each shard publishes its own, those on this one, and those that others have published. */
function urlsFor(
  publisher: UrlPublisher,
  viewUrls: ViewUrls,
  paths: readonly string[],
  object: KubeObject,
): readonly string[] {
  const { isOnlyHere, published } = publisher
  const given = isOnlyHere ? [viewUrls.own] : viewUrls.current()
  const bases = given.map(base => base.replace(/\/+$/, ''))
  const on = (listed: readonly string[]) => paths.flatMap(path => listed.map(base => base + path))
  if (published === undefined) return on(bases)
  const others = bases.slice(1)
  const known = published(object)
  const kept = known.filter(url => others.some(base => url.startsWith(`${base}/`)))
  const isSelected = viewUrls.isSelected?.(publisher.shardSelector?.(object) ?? '') ?? true
  return [...on(bases.slice(0, 1)).filter(url => isSelected || known.includes(url)), ...kept]
}

/** Removes the resourceVersion: the update applies to the newest version, and a conflict retries it. */
export function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Waits for a change. The first one after a pause is published at once, and those that follow it are collected. */
async function nextWork(work: Work, signal: AbortSignal): Promise<void> {
  await sleep(gather, undefined, { signal }).catch(() => undefined)
  if (work.all || work.items.size > 0) return
  await unlessAborted(
    signal,
    new Promise<void>(resolve => {
      work.wake = resolve
    }),
  )
}

function unlessAborted(signal: AbortSignal, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', done)
    promise.then(done, reject)
  })
}
