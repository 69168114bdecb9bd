import { LRUCache } from 'lru-cache'
import { contextWith, type Recorder, type RequestContext } from '../contract/context.ts'
import type { Logger } from '../contract/log.ts'
import type { Caller, PluginSupervisor } from '../contract/pluginsupervisor.ts'
import { type Culprit, type MemberProblem, type MemberReports, ViewFailure } from '../contract/viewfailure.ts'
import { copyJson } from '../lens/privatecopy.ts'
import { StatusError, serviceUnavailable } from '../meta/errors.ts'
import { accountOf, type UserInfo } from '../request/user.ts'
import { Breakers } from './breaker.ts'
import type { PluginMeters } from './meters.ts'
import { definedAt, type PluginOrigin, positionOf } from './position.ts'

/** A view of a plugin, and where its failures are reported. */
export interface Supervised {
  /** The name of the view. */
  readonly view: string
  readonly origin: PluginOrigin
  readonly log: Logger
  readonly meters: PluginMeters
  /** Whether a path is a file of the server, and not of a plugin. */
  readonly isOurs: (path: string) => boolean
}

/** The time is that of opossum and Envoy's outlier detection: failures in a row, and a pause that doubles. */
const breaking = { failures: 10, firstPause: 1000, longestPause: 30_000 }

/** Milliseconds without a pause from which a call is reported. */
const slow = 100
/** The most milliseconds that the slow calls of one request may take together. */
const longest = 1000
/** Milliseconds for which an error outside of a request makes the view unhealthy. */
const remembered = 60_000

/** Reports the failures of a plugin's view with file and line, and stops calling it where it keeps failing. */
export class Supervisor implements PluginSupervisor {
  readonly view: string
  readonly origin: PluginOrigin
  readonly #of: Supervised
  readonly #breakers = new Breakers(breaking)
  readonly #users = new WeakMap<UserInfo, UserInfo>()
  readonly #positions = new LRUCache<string, string>({ max: 100 })
  /** Failures of members that do not get the request. */
  readonly #uncounted = new WeakSet<ViewFailure>()
  #crashedAt = Number.NEGATIVE_INFINITY
  #lastSlow = Number.NEGATIVE_INFINITY

  constructor(of: Supervised) {
    this.view = of.view
    this.origin = of.origin
    this.#of = of
    of.meters.observe(of.view, () => this.#breakers.open().length)
  }

  refusal(caller: Caller): StatusError | undefined {
    const left = this.#breakers.refuses(keyOf(caller))
    if (left === undefined) return undefined
    this.#of.meters.refused(this.view)
    const text = `the view ${JSON.stringify(this.view)} keeps failing for you here, and is not called for a while`
    return serviceUnavailable(text, Math.ceil(left / 1000))
  }

  context(ctx: RequestContext): RequestContext {
    const { user, actAs, requestor } = ctx
    return contextWith(ctx, {
      user: this.#seen(user),
      actAs: this.#seen(actAs),
      ...(requestor && { requestor: this.#seen(requestor) }),
      record: new SupervisedRecorder(ctx.record, this, ctx),
    })
  }

  /** A frozen copy, because authenticated users are kept for later requests. */
  #seen(user: UserInfo): UserInfo {
    const known = this.#users.get(user)
    if (known !== undefined) return known
    const copy = frozen(copyJson(user))
    this.#users.set(user, copy)
    return copy
  }

  failure(error: unknown, ctx: RequestContext | undefined): unknown {
    if (error instanceof ViewFailure && ctx !== undefined && this.#uncounted.delete(error)) this.#count(ctx)
    if (error instanceof StatusError || ctx?.signal.aborted) return error
    this.reports(ctx).failed({ member: 'the view', problem: 'threw an error', error })
    return this.failed('it threw an error, which the server logged')
  }

  /** The 500 that names the view. */
  failed(text: string): ViewFailure {
    return new ViewFailure(`the view ${JSON.stringify(this.view)} failed: ${text}`)
  }

  /** `error` was reported without a caller: the request that it ends counts for the circuit breaker of its caller. */
  uncounted(error: unknown): void {
    if (error instanceof ViewFailure) this.#uncounted.add(error)
  }

  /** Without a caller: for calls of the server itself. */
  reports(caller?: Caller): MemberReports {
    return new Reports(this, caller)
  }

  isHealthy(): boolean {
    return this.#breakers.open().length === 0 && performance.now() - this.#crashedAt > remembered
  }

  notReady(why: string): void {
    this.#of.log.warn(this.#fields({}), `view ${this.view} is not ready, and its requests get 503: ${why}`)
  }

  /** Where an error was thrown in the files of the plugin; undefined for other errors. */
  positionOf(error: unknown): string | undefined {
    return positionOf(error, this.origin, this.#of.isOurs)
  }

  /** An error outside of a request: of a timer, or a rejected promise without a handler. */
  crashed(error: unknown, what: string): void {
    this.#crashedAt = performance.now()
    this.#of.meters.failed(this.view, 'background')
    const fields = this.#fields({ error: stackOf(error), at: this.positionOf(error) })
    this.#of.log.error(fields, `view ${this.view} failed: ${what}`)
  }

  /** Logs and counts a failure of a member. */
  report({ member, problem, error, culprit }: MemberProblem, caller: Caller | undefined): void {
    const at = error === undefined ? this.#definedAt(member, culprit) : this.positionOf(error)
    const thrown = error === undefined ? {} : { error: stackOf(error) }
    this.#of.log.error(
      this.#fields({ member, cluster: caller?.cluster, at, ...thrown }),
      `view ${this.view} failed: ${member} ${problem}`,
    )
    this.#of.meters.failed(this.view, member)
    if (caller !== undefined) this.#count(caller)
  }

  #count(caller: Caller): void {
    const pause = this.#breakers.failed(keyOf(caller))
    if (pause === undefined) return
    const { cluster, user } = caller
    this.#of.log.error(
      this.#fields({ cluster, user: user.name, seconds: pause / 1000 }),
      `view ${this.view} keeps failing: requests of this user for this cluster get 503 until one succeeds`,
    )
  }

  /** A request was answered by the view. */
  succeeded(caller: Caller): void {
    if (this.#breakers.succeeded(keyOf(caller)))
      this.#of.log.info(
        this.#fields({ cluster: caller.cluster, user: caller.user.name }),
        `view ${this.view} works again`,
      )
  }

  /** A member ran for a long time without a pause. */
  blocked(member: string, milliseconds: number): void {
    this.#of.meters.blocked(this.view, milliseconds / 1000)
    if (performance.now() - this.#lastSlow < 10_000) return
    this.#lastSlow = performance.now()
    this.#of.log.warn(
      this.#fields({ member, milliseconds: Math.round(milliseconds) }),
      `view ${this.view} blocked the server: move the work of ${member} out of requests`,
    )
  }

  #definedAt(member: string, culprit: Culprit | undefined): string | undefined {
    if (culprit === undefined) return undefined
    const key = `${member} ${culprit}`
    const found = this.#positions.get(key) ?? definedAt(culprit) ?? ''
    this.#positions.set(key, found)
    return found === '' ? undefined : found
  }

  #fields(more: Readonly<Record<string, unknown>>): object {
    return { view: this.view, plugin: this.origin.name, ...more, at: more.at ?? this.origin.file }
  }
}

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : `${String(error)} (not an Error)`

const keyOf = ({ cluster, user }: Caller): string => `${cluster} ${accountOf(user)}`

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}

/** The reports of one request. */
class Reports implements MemberReports {
  readonly #supervisor: Supervisor
  readonly #caller: Caller | undefined
  #slow = 0

  constructor(supervisor: Supervisor, caller: Caller | undefined) {
    this.#supervisor = supervisor
    this.#caller = caller
  }

  failed(problem: MemberProblem): void {
    this.#supervisor.report(problem, this.#caller)
  }

  took(member: string, milliseconds: number): void {
    if (milliseconds < slow) return
    this.#supervisor.blocked(member, milliseconds)
    this.#slow += milliseconds
    if (this.#slow < longest) return
    const problem = `blocked the server for ${(this.#slow / 1000).toFixed(1)} s in one request`
    this.failed({ member, problem })
    throw this.#supervisor.failed(`${member} ${problem}`)
  }
}

/** The recorder of a request, with the name of the view in its log lines. */
class SupervisedRecorder implements Recorder {
  readonly calls: MemberReports
  readonly #inner: Recorder
  readonly #view: string
  #log: Logger | undefined

  constructor(inner: Recorder, supervisor: Supervisor, caller: Caller) {
    this.#inner = inner
    this.#view = supervisor.view
    this.calls = supervisor.reports({ cluster: caller.cluster, user: caller.user })
  }

  get log(): Logger {
    this.#log ??= this.#inner.log.child({ view: this.#view })
    return this.#log
  }

  warn(text: string): void {
    this.#inner.warn(text)
  }

  annotate(key: string, value: string): void {
    this.#inner.annotate(key, value)
  }

  decided(...decision: Parameters<Required<Recorder>['decided']>): void {
    this.#inner.decided?.(...decision)
  }
}
