import { Pace } from '../../framework/async/awaitable.ts'
import { decisionBy } from '../../framework/contract/authorizer.ts'
import type { Host, RequestContext, UserInfo } from '../../framework/index.ts'
import { isPrivileged } from '../../framework/request/user.ts'
import { localAdminCluster, resources } from '../../kcp/index.ts'
import type { AccessHistory } from '../shared/access/history.ts'

/** The users whose logical clusters are kept. */
const mostUsers = 200
/** Milliseconds after which access is asked again: no event tells of changes in authorization webhooks. */
const validFor = 10_000

interface Known {
  readonly clusters: ReadonlyMap<string, boolean>
  readonly names: readonly string[]
  readonly changed: Set<string>
  readonly until: number
}

/** The logical clusters that users can access. What they may list there is decided for every request. */
export class VisibleClusters {
  readonly #host: Host
  readonly #known = new Map<string, Known>()
  /** What changes while it is decided. */
  readonly #deciding = new Set<Set<string>>()

  constructor(host: Host, changes: AccessHistory) {
    this.#host = host
    changes.follow('*', cluster => this.#changed(cluster))
  }

  /** Sorted by name. */
  async of(user: UserInfo, ctx: Pick<RequestContext, 'signal'>): Promise<readonly string[]> {
    if (isPrivileged(user)) return this.last(user)
    const key = keyOf(user)
    const before = this.#current(key)
    if (before?.changed.size === 0) return before.names
    const changed = new Set<string>()
    this.#deciding.add(changed)
    try {
      const next = await this.#decided(user, ctx, before)
      const until = changed.has(localAdminCluster) ? 0 : (before?.until ?? performance.now() + validFor)
      this.#keep(key, { ...next, changed, until })
      return next.names
    } finally {
      this.#deciding.delete(changed)
    }
  }

  /** What `of` returned for the user last; empty for an unknown user, and everything for a privileged one. */
  last(user: UserInfo): readonly string[] {
    if (isPrivileged(user)) return this.#all().sort()
    return this.#known.get(keyOf(user))?.names ?? []
  }

  #all(): string[] {
    return this.#host.informers
      .for(resources.logicalClusters)
      .list()
      .map(({ key }) => key.cluster)
  }

  #current(key: string): Known | undefined {
    const known = this.#known.get(key)
    return known !== undefined && known.until > performance.now() ? known : undefined
  }

  async #decided(
    user: UserInfo,
    ctx: Pick<RequestContext, 'signal'>,
    before: Known | undefined,
  ): Promise<Pick<Known, 'clusters' | 'names'>> {
    const pace = new Pace()
    const clusters = new Map<string, boolean>()
    const changed = new Set(before?.changed)
    for (const cluster of this.#all()) {
      const kept = changed.has(cluster) ? undefined : before?.clusters.get(cluster)
      clusters.set(cluster, kept ?? (await this.#mayAccess(user, cluster, ctx)))
      const wait = pace.due()
      if (wait !== undefined) await wait
    }
    const names = [...clusters].flatMap(([name, isVisible]) => (isVisible ? [name] : [])).sort()
    return { clusters, names: sameNames(before?.names, names) ? (before?.names ?? names) : names }
  }

  async #mayAccess(user: UserInfo, cluster: string, ctx: Pick<RequestContext, 'signal'>): Promise<boolean> {
    const action = { verb: 'access', cluster, path: '/' }
    const { effect } = await decisionBy(this.#host.backend.authorizer, { user, action }, ctx)
    return effect === 'allow'
  }

  #keep(key: string, next: Known): void {
    this.#known.delete(key)
    this.#known.set(key, next)
    const [oldest] = this.#known.keys()
    if (this.#known.size > mostUsers && oldest !== undefined) this.#known.delete(oldest)
  }

  #changed(cluster: string): void {
    if (cluster === localAdminCluster) this.#known.clear()
    for (const { changed } of this.#known.values()) changed.add(cluster)
    for (const changed of this.#deciding) changed.add(cluster)
  }
}

const keyOf = ({ name, uid, groups, extra }: UserInfo): string => JSON.stringify([name, uid, groups, extra])

const sameNames = (a: readonly string[] | undefined, b: readonly string[]): boolean =>
  a?.length === b.length && a.every((name, i) => name === b[i])
