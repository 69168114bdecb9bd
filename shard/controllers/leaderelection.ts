import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../framework/contract/log.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { localAdminCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { type ControllerClient, createIfMissing, ifFound } from './client.ts'
import { ControllerTerm } from './term.ts'

/** Milliseconds, with the meaning that they have in client-go (`tools/leaderelection`, `LeaderElectionConfig`). */
export interface LeaseTiming {
  /** How long other servers wait after the last renewal that they saw. */
  readonly duration: number
  /** How long the leader tries to renew before it stops. Less than `duration`. */
  readonly renewDeadline: number
  /** Between two attempts. */
  readonly retryPeriod: number
}

export interface ElectionOptions {
  readonly client: ControllerClient
  readonly log: Logger
  readonly timing?: LeaseTiming
  /** Default: the host name and a random part. */
  readonly identity?: string
  /** Refuses requests of controllers when the Lease is lost. */
  readonly term?: ControllerTerm
  /** Milliseconds of a monotonic clock; default: `performance.now`. */
  readonly now?: () => number
}

/** The leader works until `term` aborts, and resolves when it has stopped. */
type Work = (term: AbortSignal) => Promise<void>

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

const defaultTiming: LeaseTiming = { duration: 10_000, renewDeadline: 6_000, retryPeriod: 1_000 }

const { leases } = resources
const leaseKey = { cluster: localAdminCluster, namespace: 'kube-system', name: 'oriel-controllers' }

/**
 * Runs `work` while this server holds the Lease `oriel-controllers` in `kube-system` of `system:admin`, as often as it gets it
 * (client-go `tools/leaderelection`). After `signal` has aborted and the work has stopped, the Lease is released, so that
 * another server continues at once.
 */
export async function runAsLeader(options: ElectionOptions, signal: AbortSignal, work: Work): Promise<void> {
  const election = new Election(options)
  while (!signal.aborted) {
    if (!(await election.holds())) {
      await election.pause(signal)
      continue
    }
    await election.lead(signal, work)
  }
}

class Election {
  readonly #options: ElectionOptions
  readonly #identity: string
  readonly #timing: LeaseTiming
  readonly #now: () => number
  readonly #term: ControllerTerm
  /** When the attempt began that renewed the Lease last. */
  #renewed = 0
  /** The Lease as another server wrote it, and when it was first seen: clocks of servers are not compared. */
  #observed = { lease: '', at: 0 }

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#timing = options.timing ?? defaultTiming
    this.#now = options.now ?? (() => performance.now())
    this.#term = options.term ?? new ControllerTerm()
    this.#identity = options.identity ?? `${hostname()}_${randomUUID()}`
  }

  pause(signal: AbortSignal): Promise<void> {
    return sleep(this.#timing.retryPeriod, undefined, { signal }).catch(() => undefined)
  }

  /** Renews or acquires the Lease. False when another server holds it, or when the store does not answer. */
  async holds(): Promise<boolean> {
    const { client, log } = this.#options
    const begun = this.#now()
    try {
      const change = (lease: KubeObject): KubeObject => this.#next(lease)
      const written =
        (await ifFound(client.update(leases, leaseKey, change))) ??
        (await createIfMissing(client, leases, leaseKey.cluster, this.#next(emptyLease)))
      const isHeld = (written as Lease | undefined)?.spec?.holderIdentity === this.#identity
      if (isHeld) this.#renewed = Math.max(this.#renewed, begun)
      return isHeld
    } catch (error) {
      log.warn({ error: String(error) }, 'the Lease of the controllers cannot be written, retrying')
      return false
    }
  }

  /** Works until the Lease is lost, or `signal` aborts. */
  async lead(signal: AbortSignal, work: Work): Promise<void> {
    const { log } = this.#options
    const lost = new AbortController()
    setMaxListeners(0, lost.signal)
    this.#term.begin(this.#end, lost.signal)
    log.info({ identity: this.#identity }, 'this server runs the controllers')
    const working = work(AbortSignal.any([signal, lost.signal]))
    await this.#renewUntilLost(signal)
    if (!signal.aborted) {
      log.warn({ identity: this.#identity }, 'this server stops the controllers: the Lease was lost')
      lost.abort()
    }
    await working
    this.#term.end()
    log.info({ identity: this.#identity }, 'this server has stopped the controllers')
    if (signal.aborted) await this.#release()
  }

  /** When another server may acquire the Lease. */
  get #end(): number {
    return this.#renewed + this.#timing.duration
  }

  async #renewUntilLost(signal: AbortSignal): Promise<void> {
    const { renewDeadline } = this.#timing
    while (!signal.aborted) {
      await this.pause(signal)
      if (signal.aborted) return
      // An attempt may take longer than the deadline.
      const held = await Promise.race([
        this.holds(),
        sleep(Math.max(0, this.#renewed + renewDeadline - this.#now()), false, { ref: false }),
      ])
      if (held) this.#term.extend(this.#end)
      else if (this.#isTaken || this.#now() - this.#renewed >= renewDeadline) return
    }
  }

  get #isTaken(): boolean {
    return this.#observed.lease !== ''
  }

  /** The Lease, held by this server if nobody else holds it. */
  #next(lease: Lease): Lease {
    const { holderIdentity = '', leaseTransitions = 0, acquireTime } = lease.spec ?? {}
    const isOwn = holderIdentity === this.#identity
    if (!isOwn && holderIdentity !== '' && !this.#isExpired(lease)) return lease
    this.#observed = { lease: '', at: 0 }
    const now = microTime()
    const spec = {
      holderIdentity: this.#identity,
      leaseDurationSeconds: Math.ceil(this.#timing.duration / 1_000),
      acquireTime: isOwn ? (acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: isOwn || holderIdentity === '' ? leaseTransitions : leaseTransitions + 1,
    }
    return { ...lease, spec }
  }

  #isExpired({ spec }: Lease): boolean {
    const lease = JSON.stringify(spec)
    if (lease !== this.#observed.lease) this.#observed = { lease, at: this.#now() }
    const duration = Math.max(this.#timing.duration, (spec?.leaseDurationSeconds ?? 0) * 1_000)
    return this.#now() - this.#observed.at >= duration
  }

  async #release(): Promise<void> {
    const { client, log } = this.#options
    const released = ({ spec, ...lease }: Lease): KubeObject =>
      spec?.holderIdentity === this.#identity
        ? { ...lease, spec: { ...spec, holderIdentity: '', renewTime: microTime() } }
        : { ...lease, spec }
    await client
      .update(leases, leaseKey, released)
      .catch(error => log.warn({ error: String(error) }, 'the Lease of the controllers was not released'))
  }
}

const emptyLease: Lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: leaseKey.name, namespace: leaseKey.namespace },
}

/** `metav1.MicroTime` */
const microTime = (): string => new Date().toISOString().replace('Z', '000Z')
