import type { ClusterScope, Host, Informer, Item, ItemEvent } from '../../../framework/index.ts'
import {
  type LogicalCluster,
  logicalClusterName,
  pathAnnotation,
  resources,
  type Workspace,
} from '../../../kcp/index.ts'
import type { ClusterFacts } from '../../../openapi/index.ts'
import { tenancyExported, workspacesRef } from '../exports/tenancy.ts'
import { LastRevisions } from '../watching/lastrevisions.ts'

type Texts = Readonly<Record<string, string>>

/** Called with the logical cluster, and its facts before the change. */
export type ClusterHandler = (cluster: string, before: ClusterFacts) => void

/** Paths, and labels and annotations of the workspaces, of all logical clusters, and their changes. */
export class ClusterIndex {
  readonly #host: Host
  readonly #logicalClusters: Informer
  readonly #known = new Map<string, ClusterFacts>()
  readonly #changed = new LastRevisions()
  readonly #handlers = new Set<ClusterHandler>()
  /** The newest known change. */
  #last = 0
  #isReplayed = false

  constructor(host: Host) {
    this.#host = host
    this.#logicalClusters = host.informers.for(resources.logicalClusters)
  }

  /** The same object until something changes. */
  of(cluster: string): ClusterFacts {
    const known = this.#known.get(cluster)
    if (known !== undefined) return known
    const facts = this.#factsOf(cluster)
    // The path of a logical cluster never changes.
    if (facts.path !== '') this.#known.set(cluster, facts)
    return facts
  }

  /** Whether a logical cluster of the scope has changed after a revision. */
  hasChangedSince(scope: ClusterScope, revision: number): boolean {
    return (scope === '*' ? this.#last : this.#changed.of(scope)) > revision
  }

  /** Returns a function that removes the handler. */
  follow(handler: ClusterHandler): () => void {
    this.#handlers.add(handler)
    return () => void this.#handlers.delete(handler)
  }

  /** Resolves when `signal` aborts. Changes before the start count as the newest of them. */
  async run(signal: AbortSignal): Promise<void> {
    await tenancyExported(this.#host.informers.for(resources.apiExports))
    const workspaces = this.#workspaces()
    if (workspaces === undefined || signal.aborted) return
    const stops = [
      workspaces.onEvent(event => this.#apply(event)),
      this.#logicalClusters.onEvent(event => this.#forget(event)),
    ]
    this.#changed.raise(this.#last)
    this.#isReplayed = true
    const stop = (): void => {
      for (const each of stops) each()
    }
    signal.addEventListener('abort', stop, { once: true })
  }

  #workspaces(): Informer | undefined {
    const { informers } = this.#host
    const ref = workspacesRef(informers.for(resources.apiExports))
    return ref && informers.for(ref)
  }

  #apply(event: ItemEvent): void {
    const { type, item, previous } = event
    const cluster = clusterOfWorkspace(item)
    if (type === 'BOOKMARK' || cluster === '') return
    const before = this.#known.get(cluster)
    if (before === undefined) {
      const isSame = type === 'MODIFIED' && previous !== undefined && sameWorkspace(previous, item)
      if (!isSame || !this.#isReplayed) this.#record(cluster, item)
      return
    }
    const after = this.#factsOf(cluster)
    if (sameTexts(before.labels, after.labels) && sameTexts(before.annotations, after.annotations)) return
    this.#known.set(cluster, after)
    this.#record(cluster, item)
    for (const handler of this.#handlers) handler(cluster, before)
  }

  /** The logical cluster is gone: tenants choose how many there are. */
  #forget({ type, item }: ItemEvent): void {
    const { cluster } = item.key
    const before = type === 'DELETED' ? this.#known.get(cluster) : undefined
    if (before === undefined) return
    this.#known.delete(cluster)
    this.#record(cluster, item)
    for (const handler of this.#handlers) handler(cluster, before)
  }

  #record(cluster: string, { meta }: Item): void {
    const revision = Number(meta.resourceVersion)
    this.#last = Math.max(this.#last, revision)
    if (this.#isReplayed) this.#changed.record(cluster, revision)
  }

  #factsOf(name: string): ClusterFacts {
    const found = this.#logicalClusters.get(name, '', logicalClusterName)
    const path = found?.meta.annotations[pathAnnotation] ?? ''
    const workspace = found && this.#workspaceOf(name, found)
    // The workspace of another shard is not known here: "no labels" would be wrong.
    if (found !== undefined && workspace === undefined && hasOwner(found)) return { name, path }
    return { name, path, labels: own(workspace?.meta.labels), annotations: own(workspace?.meta.annotations) }
  }

  /** The owner, which the LogicalCluster names: a workspace cannot claim another logical cluster. */
  #workspaceOf(name: string, { object }: Item): Item | undefined {
    const { owner } = (object as LogicalCluster).spec ?? {}
    if (!owner?.cluster || !owner.name) return undefined
    const workspace = this.#workspaces()?.get(owner.cluster, '', owner.name)
    const isOwner =
      workspace?.meta.uid === owner.uid && workspace !== undefined && clusterOfWorkspace(workspace) === name
    return isOwner ? workspace : undefined
  }
}

const hasOwner = ({ object }: Item): boolean => !!(object as LogicalCluster).spec?.owner?.cluster

/** Keys of kcp and Kubernetes: Views can neither add nor read them. */
export const isSystemKey = (key: string): boolean =>
  /^(?:[^/]*\.)?(?:kcp\.io|kcp\.dev|k8s\.io|kubernetes\.io)\//.test(key)

const clusterOfWorkspace = ({ object }: Item): string => (object as Workspace).spec?.cluster ?? ''

const own = (texts: Texts = {}): Texts =>
  Object.fromEntries(Object.entries(texts).filter(([key]) => !isSystemKey(key)))

const sameWorkspace = (a: Item, b: Item): boolean =>
  clusterOfWorkspace(a) === clusterOfWorkspace(b) &&
  sameTexts(own(a.meta.labels), own(b.meta.labels)) &&
  sameTexts(own(a.meta.annotations), own(b.meta.annotations))

function sameTexts(a: Texts | undefined, b: Texts | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && a[key] === b[key])
  )
}
