import { createRbacIndex, followRbac, type RbacIndex, rbacAllows, systemAdmin } from '../../../authz/index.ts'
import { type Awaitable, after, unlessAborted } from '../../../framework/async/awaitable.ts'
import { decisionBy } from '../../../framework/contract/authorizer.ts'
import {
  type Action,
  type ClusterName,
  type Host,
  type ItemEvent,
  loopbackContext,
  type ResourceRef,
  type UserInfo,
} from '../../../framework/index.ts'
import { isPrivileged } from '../../../framework/request/user.ts'
import { resources } from '../../../kcp/index.ts'
import { newestRevision } from '../watching/newestrevision.ts'
import { AccessHistory } from './history.ts'

/** The resources that decide about access: RBAC and the phase of the logical cluster. */
const sources: readonly ResourceRef[] = [
  resources.clusterRoles,
  resources.clusterRoleBindings,
  resources.roles,
  resources.roleBindings,
  resources.logicalClusters,
]

/** Milliseconds in which another server that makes the decisions has seen a change that this one has seen. */
const lag = 2_000

/** Who may do what in the logical clusters of the shard, and the changes of it. Follows permissions from the first `ready`. */
export class Access {
  readonly history: AccessHistory
  readonly #host: Host
  readonly #again = new Map<ClusterName, NodeJS.Timeout>()
  /** Where another server decides, only what RBAC may allow is asked. */
  readonly #rbac: RbacIndex | undefined
  #synced: Promise<unknown> | undefined

  /** `dependents`: as for `AccessHistory`. */
  constructor(host: Host, dependents: (cluster: ClusterName) => readonly ClusterName[] = () => []) {
    this.#host = host
    this.history = new AccessHistory(dependents)
    if (host.backend.authorizer.forget !== undefined) this.#rbac = createRbacIndex()
  }

  /** Resolves when all permissions are known. */
  async ready(signal: AbortSignal): Promise<void> {
    this.#synced ??= this.#follow()
    await unlessAborted(signal, this.#synced)
    const { backend, log } = this.#host
    await this.history.startAt(() => {
      const resource = resources.clusterRoleBindings
      const ctx = loopbackContext({ verb: 'list', resource, cluster: '*', signal, log })
      return newestRevision(backend.storage(resource), ctx, { cluster: '*' })
    })
  }

  allows(user: UserInfo, action: Action, signal: AbortSignal): Awaitable<boolean> {
    if (isPrivileged(user)) return true
    if (this.#rbac !== undefined && !rbacAllows(this.#rbac, user, action)) return false
    const { authorizer } = this.#host.backend
    return after(decisionBy(authorizer, { user, action }, { signal }), ({ effect }) => effect === 'allow')
  }

  #follow(): Promise<unknown> {
    const { informers } = this.#host
    if (this.#rbac !== undefined) followRbac(informers, this.#rbac)
    const followed = sources.map(source => informers.for(source))
    for (const informer of followed) informer.onEvent(event => this.#apply(event))
    return Promise.all(followed.map(({ synced }) => synced))
  }

  #apply(event: ItemEvent): void {
    if (event.type === 'BOOKMARK') return
    const { forget } = this.#host.backend.authorizer
    const { cluster } = event.item.key
    forget?.(cluster === systemAdmin ? '*' : cluster)
    this.history.add(event)
    if (forget === undefined) return
    clearTimeout(this.#again.get(cluster))
    this.#again.set(cluster, setTimeout(() => this.#askAgain(cluster), lag).unref())
  }

  #askAgain(cluster: ClusterName): void {
    this.#again.delete(cluster)
    this.#host.backend.authorizer.forget?.(cluster === systemAdmin ? '*' : cluster)
    this.history.tell(cluster, 0)
  }
}
