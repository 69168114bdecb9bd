import { clusterAnnotation } from '../../framework/contract/item.ts'
import {
  type ApiResource,
  type ApiSet,
  type Authorizer,
  allow,
  apiSetOf,
  type Backend,
  type ClusterScope,
  deny,
  expired,
  type Item,
  type ItemEvent,
  type ItemWatch,
  itemOf,
  type KubeObject,
  matchesLabels,
  notFound,
  type ObjectKey,
  type ResourceStorage,
  type Selection,
  type WatchQuery,
} from '../../framework/index.ts'
import { alreadyExists, notServed } from '../../framework/meta/errors.ts'

/** A minimal backend: objects in a Map, a revision, and watchers that get every event. */
export interface TinyShard extends Backend {
  /** Ends all running watches with this error, or cleanly. */
  breakWatches(error?: Error): void
  /** Calls of `list` so far. */
  readonly lists: number
  /** `root:team` → `team`. */
  readonly paths: Map<string, string>
  /** The number of open watches. */
  readonly watchers: number
  /** Watches from before this revision are refused as expired. */
  compacted: number
}

interface Watcher {
  readonly queue: ItemEvent[]
  end?: Error | 'ended'
  wake(): void
}

const about = ({ name }: ObjectKey) => ({ group: 'example.com', resource: 'widgets', name })
const keyText = (key: ObjectKey): string => `${key.cluster}/${key.namespace}/${key.name}`

interface State {
  readonly objects: Map<string, Item>
  readonly watchers: Set<Watcher>
  /** All events: watches may start anywhere. */
  readonly history: ItemEvent[]
  revision: number
  lists: number
  compacted: number
}

/** Serves namespaced `widgets` of `example.com/v1`, with a status, in the clusters `root`, `team` and `system:admin`. */
export function createTinyShard(): TinyShard {
  const state: State = {
    objects: new Map(),
    watchers: new Set(),
    history: [],
    revision: 1,
    lists: 0,
    compacted: 0,
  }
  const storage = storageOf(state)
  const apis = apiSetOf([widgets(storage)])
  const clusters = new Set<ClusterScope>(['*', 'root', 'team', 'system:admin'])
  const paths = new Map([['root:team', 'team']])
  return {
    authorizer: alphabetical,
    storage: () => storage,
    apis: (cluster): ApiSet | undefined => (clusters.has(cluster) ? apis : undefined),
    resolve: path => paths.get(path) ?? (clusters.has(path) ? path : undefined),
    forward: async () => {
      throw notServed()
    },
    paths,
    breakWatches: error => {
      for (const watcher of state.watchers) {
        watcher.end = error ?? 'ended'
        watcher.wake()
      }
    },
    get lists() {
      return state.lists
    },
    get watchers() {
      return state.watchers.size
    },
    get compacted() {
      return state.compacted
    },
    set compacted(revision) {
      state.compacted = revision
    },
  }
}

function existing(state: State, key: ObjectKey): Item {
  const item = state.objects.get(keyText(key))
  if (item === undefined) throw notFound(about(key))
  return item
}

function commit(state: State, type: ItemEvent['type'], key: ObjectKey, object: KubeObject): Item {
  const previous = state.objects.get(keyText(key))
  state.revision++
  const annotations = { ...object.metadata.annotations, [clusterAnnotation]: key.cluster }
  const metadata = { ...object.metadata, annotations, resourceVersion: String(state.revision) }
  const item = itemOf({ ...object, metadata }, key.cluster)
  if (type === 'DELETED') state.objects.delete(keyText(key))
  else state.objects.set(keyText(key), item)
  const event = previous === undefined ? { type, item } : { type, item, previous }
  state.history.push(event)
  for (const watcher of state.watchers) {
    watcher.queue.push(event)
    watcher.wake()
  }
  return item
}

const storageOf = (state: State): ResourceStorage => ({
  get: async (_, key) => existing(state, key),
  list: async function* (_, query) {
    state.lists++
    const resourceVersion = String(state.revision)
    yield [...state.objects.values()].filter(item => selects(query, item))
    return { resourceVersion }
  },
  watch: (ctx, query) => watch(state, query, ctx.signal),
  create: async (_, key, object) => {
    if (state.objects.has(keyText(key))) throw alreadyExists(about(key))
    const metadata = { ...object.metadata, uid: `uid-${state.revision}` }
    return commit(state, 'ADDED', key, { ...object, metadata })
  },
  update: async (_, key, change) => {
    const current = existing(state, key)
    const next = await change(current)
    return next === current.object ? current : commit(state, 'MODIFIED', key, next)
  },
  delete: async (_, key, check) => {
    const current = existing(state, key)
    await check(current)
    return { item: commit(state, 'DELETED', key, current.object), removed: true }
  },
})

async function* watch(state: State, query: WatchQuery, signal: AbortSignal): ItemWatch {
  const after = Number(query.resourceVersion || state.revision)
  if (after < state.compacted) throw expired('too old resource version')
  const missed = state.history.filter(({ item }) => Number(item.meta.resourceVersion) > after)
  const watcher: Watcher = { queue: missed, wake: () => undefined }
  const wake = (): void => watcher.wake()
  state.watchers.add(watcher)
  signal.addEventListener('abort', wake)
  try {
    while (!signal.aborted && watcher.end === undefined) {
      const events = watcher.queue.splice(0).filter(({ item }) => selects(query, item))
      if (events.length > 0) yield events
      else await new Promise<void>(resolve => Object.assign(watcher, { wake: resolve }))
    }
    if (watcher.end instanceof Error) throw watcher.end
  } finally {
    signal.removeEventListener('abort', wake)
    state.watchers.delete(watcher)
  }
}

const selects = ({ cluster, namespace = '', labels }: Selection, { key, meta }: Item): boolean =>
  (cluster === '*' || cluster === key.cluster) &&
  (namespace === '' || namespace === key.namespace) &&
  matchesLabels(labels, meta.labels)

/** All users may read health, users named `reader…` may read, and `crash` makes it fail. */
const alphabetical: Authorizer = {
  authorize: async (user, { verb, path }) => {
    if (path === '/healthz') return allow('health is public')
    if (user.name === 'crash') throw new Error('the policy cannot be read')
    return user.name.startsWith('reader') && ['get', 'list', 'watch'].includes(verb)
      ? allow('readers read')
      : deny('access denied')
  },
}

const schema = {
  decode: (object: KubeObject) => ({ object, unknown: [] }),
  validate: () => [],
}

const widgets = (storage: ResourceStorage): ApiResource => ({
  group: 'example.com',
  version: 'v1',
  names: {
    plural: 'widgets',
    singular: 'widget',
    kind: 'Widget',
    listKind: 'WidgetList',
    shortNames: ['wd'],
  },
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  storage,
  schema,
  columns: [],
  subresources: [
    { name: 'status', kind: 'Widget', verbs: ['get', 'update', 'patch'], storage, schema },
    {
      name: 'scale',
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get'],
      storage,
      schema,
    },
  ],
  custom: true,
  unconditionalUpdate: false,
  createOnUpdate: false,
  openapi: { type: 'object' },
})

/** A widget as a client sends it. */
export const widget = (namespace: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { namespace, name, ...more },
})
