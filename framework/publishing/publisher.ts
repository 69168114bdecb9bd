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
  await Promise.all(kindsOf(publishing.workspaces).map(kind => keepPublished(publishing, kind)))
}

interface Publisher {
  readonly workspace: VirtualWorkspace
  readonly publisher: UrlPublisher
}

/** The views that list their URLs in objects of one kind. */
interface Kind {
  readonly objects: ResourceRef
  readonly publishers: readonly Publisher[]
}

function kindsOf(workspaces: readonly VirtualWorkspace[]): readonly Kind[] {
  const kinds = new Map<string, Kind>()
  for (const workspace of workspaces) {
    const { publisher } = workspace
    if (publisher === undefined) continue
    const { objects } = publisher
    const id = [objects.group, objects.version, objects.resource].join('/')
    const publishers = [...(kinds.get(id)?.publishers ?? []), { workspace, publisher }]
    kinds.set(id, { objects, publishers })
  }
  return [...kinds.values()]
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

async function keepPublished(publishing: Publishing, kind: Kind): Promise<void> {
  const { informers, signal } = publishing
  const objects = informers.for(kind.objects)
  const others = kind.publishers.flatMap(({ publisher }) =>
    publisher.dependsOn.map(ref => informers.for(ref)),
  )
  await unlessAborted(signal, Promise.all([objects, ...others].map(informer => informer.synced)))
  const work: Work = { items: new Set(), all: true, wake: () => undefined }
  const stops = [
    objects.onEvent(event => addObject(work, event)),
    ...kind.publishers.flatMap(({ publisher }) => subscribe(work, publisher, informers)),
    publishing.viewUrls.onChange(() => republishAll(work)),
  ]
  const backoff = new Backoff(pauses)
  while (!signal.aborted) {
    const failed = await publishWork(publishing, kind, objects, work)
    for (const item of failed) work.items.add(item)
    if (failed.length > 0) await backoff.pause(signal)
    else backoff.reset()
    await nextWork(work, signal)
  }
  for (const stop of stops) stop()
}

function addObject(work: Work, { type, item }: ItemEvent): void {
  if (type !== 'DELETED') work.items.add(item)
  work.wake()
}

function subscribe(work: Work, publisher: UrlPublisher, informers: Informers): readonly (() => void)[] {
  const changed = ({ item }: ItemEvent): void => {
    const dependents = publisher.dependents?.(item.object)
    if (dependents === undefined) work.all = true
    for (const dependent of dependents ?? []) work.items.add(dependent)
    if (dependents?.length !== 0) work.wake()
  }
  return publisher.dependsOn.map(ref => informers.for(ref).onEvent(changed))
}

function republishAll(work: Work): void {
  work.all = true
  work.wake()
}

/** Reconciles the objects; returns those that failed. */
async function publishWork(
  publishing: Publishing,
  kind: Kind,
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
    if (!(await publishOne(publishing, kind, item))) failed.push(item)
  }
  return failed
}

/**
 * Writes the URLs of all views in one update, so that no client sees those of one view only. One view after the other
 * where that fails: a view does not prevent others from publishing. Returns whether all are published.
 */
async function publishOne(publishing: Publishing, kind: Kind, item: Item): Promise<boolean> {
  try {
    await writeUrls(publishing, kind, item)
    return true
  } catch (error) {
    const [first, second] = kind.publishers
    if (second === undefined) return warn(publishing, first, item, error)
  }
  const done: boolean[] = []
  for (const each of kind.publishers)
    done.push(await publishOne(publishing, { ...kind, publishers: [each] }, item))
  return !done.includes(false)
}

function warn({ log }: Publishing, of: Publisher | undefined, { key }: Item, error: unknown): false {
  const workspace = of?.workspace.name
  log.warn({ workspace, key, error: String(error) }, 'publishing view URLs failed, retrying')
  return false
}

async function writeUrls(
  { backend, log, signal, viewUrls }: Publishing,
  { objects, publishers }: Kind,
  item: Item,
): Promise<void> {
  const published = (object: KubeObject): KubeObject =>
    publishers.reduce((next, each) => withUrls(each, viewUrls, next), object)
  if (published(item.object) === item.object) return
  const resource: ResourceRef = { ...objects, subresource: 'status' }
  const ctx = loopbackContext({ verb: 'update', resource, cluster: item.key.cluster, signal, log })
  const fieldManager = publishers.map(({ workspace }) => workspace.name).join(',')
  const change = ({ object }: Item): KubeObject => withoutVersion(published(object))
  await backend.storage(resource).update(ctx, item.key, change, { dryRun: false, fieldManager })
}

function withUrls({ workspace, publisher }: Publisher, viewUrls: ViewUrls, object: KubeObject): KubeObject {
  const views = publisher.views(object)
  if (views === undefined) return object
  const paths = views.map(params => workspace.path.format(params))
  return publisher.publish(object, urlsFor(publisher, viewUrls, paths, object))
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
