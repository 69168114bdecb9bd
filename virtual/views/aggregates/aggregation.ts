import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns, Pace, pacedMap, unlessAborted } from '../../../framework/async/awaitable.ts'
import { Backoff } from '../../../framework/async/backoff.ts'
import {
  type Host,
  type Item,
  type ItemEvent,
  loopbackContext,
  ObjectMap,
  type ResourceStorage,
  StatusError,
} from '../../../framework/index.ts'
import { serviceUnavailable } from '../../../framework/meta/errors.ts'
import type { ClusterFacts, ExpressionAllowance } from '../../../openapi/index.ts'
import { type Contribution, Groups, mostGroups } from './groups.ts'
import { aggregateKind } from './kind.ts'
import type { AggregateFunction, AggregatePlan, NamedExpression } from './types.ts'

/** Counts the objects for which an expression fails. */
interface CountedFailures {
  refused(field: string, result: { readonly failure: string }, item: Item): void
}

export interface AggregationOptions {
  readonly host: Host
  /** The logical cluster of the View, which has the aggregates. */
  readonly owner: string
  readonly plans: readonly { readonly plan: AggregatePlan; readonly storage: ResourceStorage }[]
  readonly failures: CountedFailures
  readonly factsOf: (cluster: string) => ClusterFacts
  /** Aborts when the View is changed or removed. */
  readonly signal: AbortSignal
}

const nobody = { name: '', uid: '', groups: [], extra: {} }
/** What the expressions of an entry may use for one object together. */
const mostPerObject: ExpressionAllowance = { left: 1_000_000, effort: 5_000_000 }
const pauses = { first: 200, longest: 10_000 }
/** Milliseconds of work after which an aggregate does not rest. */
const shortWork = 2
const endOfInitial = 'k8s.io/initial-events-end'

/** Computes the aggregates of a View from the watches of its resources, from the first read on. */
export class Aggregation {
  readonly map = new ObjectMap(aggregateKind)
  readonly #options: AggregationOptions
  #synced: Promise<unknown> | undefined
  /** Why entries are not counted now. */
  readonly #problems = new Map<AggregatePlan, string>()

  constructor(options: AggregationOptions) {
    this.#options = options
  }

  /** Resolves when all objects are counted. Throws 503 with the reason if they cannot be counted. */
  async ready(signal: AbortSignal): Promise<void> {
    this.#synced ??= Promise.all(this.#options.plans.map(each => this.#follow(each)))
    await unlessAborted(signal, this.#synced)
    const [problem] = this.#problems.values()
    if (problem !== undefined) throw serviceUnavailable(`the aggregate cannot be computed: ${problem}`, 1)
  }

  /** Follows until the View changes. Resolves with the first complete state, or with the first problem. */
  #follow(each: AggregationOptions['plans'][number]): Promise<void> {
    return new Promise(resolve => {
      void this.#watched(each, resolve)
    })
  }

  async #watched({ plan, storage }: AggregationOptions['plans'][number], synced: () => void): Promise<void> {
    const { signal } = this.#options
    const backoff = new Backoff(pauses)
    let names: ReadonlySet<string> = new Set()
    while (!signal.aborted) {
      const state = new AggregateState(plan, this.#options)
      try {
        for await (const events of this.#events(plan, storage)) {
          const began = performance.now()
          names = await this.#apply(state, events, names)
          backoff.reset()
          if (!state.isComplete) continue
          this.#problems.delete(plan)
          synced()
          await this.#rest(performance.now() - began)
        }
      } catch (error) {
        const isExpired = error instanceof StatusError && error.code === 410
        if (!isExpired) this.#problems.set(plan, String((error as Error).message))
      }
      if (this.#problems.has(plan)) synced()
      if (!signal.aborted) await backoff.pause(signal)
    }
  }

  /** All members of a changed group are read again: a tenth of the time at most, while events are collected. */
  async #rest(worked: number): Promise<void> {
    if (worked < shortWork) return
    await sleep(9 * worked, undefined, { signal: this.#options.signal }).catch(() => undefined)
  }

  #events({ of }: AggregatePlan, storage: ResourceStorage) {
    const { host, signal } = this.#options
    const { group, version, names } = of.source
    const resource = { group, version, resource: names.plural }
    const ctx = loopbackContext({ verb: 'watch', resource, cluster: '*', signal, log: host.log })
    return storage.watch(ctx, { cluster: '*', initialEvents: true, bookmarks: true })
  }

  /** Returns the names of the groups that are shown now. */
  async #apply(
    state: AggregateState,
    events: readonly ItemEvent[],
    shown: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> {
    const wasComplete = state.isComplete
    await pacedMap(events, event => state.apply(event))
    if (!state.isComplete) return shown
    const names = new Set(shown)
    const { owner } = this.#options
    const changes = await inTurns(state.changes(), new Pace())
    // What a former watch showed, and this one did not find.
    const gone = wasComplete ? [] : [...shown].filter(name => !changes.some(each => each.name === name))
    for (const name of gone) this.map.delete(owner, name)
    for (const name of gone) names.delete(name)
    for (const { name, object } of changes) {
      if (object === undefined) this.map.delete(owner, name)
      else this.map.set(owner, object)
      if (object === undefined) names.delete(name)
      else names.add(name)
    }
    return names
  }
}

/** One aggregate in the course of one watch. */
class AggregateState {
  readonly #plan: AggregatePlan
  readonly #options: AggregationOptions
  readonly #groups: Groups
  isComplete = false

  constructor(plan: AggregatePlan, options: AggregationOptions) {
    this.#plan = plan
    this.#options = options
    this.#groups = new Groups(plan.name)
  }

  changes(): ReturnType<Groups['changes']> {
    return this.#groups.changes()
  }

  apply({ type, item }: ItemEvent): void {
    if (type === 'BOOKMARK') {
      this.isComplete ||= item.meta.annotations[endOfInitial] === 'true'
      return
    }
    const { cluster, namespace, name } = item.key
    this.#groups.put(
      `${cluster}/${namespace}/${name}`,
      type === 'DELETED' ? undefined : this.#contribution(item),
    )
    if (!this.#groups.isFull) return
    this.#groups.isFull = false
    this.#options.failures.refused(this.#plan.of.field, { failure: `more than ${mostGroups} groups` }, item)
  }

  /** undefined when an expression fails: the object is not counted. */
  #contribution(item: Item): Contribution | undefined {
    const { by, values } = this.#plan
    const allowance = { ...mostPerObject }
    const groups = this.#evaluated(by, item, allowance)
    const computed = (how: AggregateFunction) => this.#evaluated(values[how], item, allowance)
    const [sum, min, max] = [computed('sum'), computed('min'), computed('max')]
    if (groups === undefined || sum === undefined || min === undefined || max === undefined) return undefined
    return { by: textsOf(groups), values: { sum, min, max } as unknown as Contribution['values'] }
  }

  #evaluated(
    expressions: readonly NamedExpression[],
    item: Item,
    allowance: ExpressionAllowance,
  ): Readonly<Record<string, unknown>> | undefined {
    const { factsOf, failures } = this.#options
    const isNumeric = expressions !== this.#plan.by
    const found: Record<string, unknown> = {}
    for (const { name, field, expression } of expressions) {
      const subject = { item, cluster: factsOf(item.key.cluster), user: nobody }
      const result = expression.evaluate(subject, allowance)
      if (!('value' in result)) return void failures.refused(field, { failure: result.failure }, item)
      const value = typeof result.value === 'bigint' ? Number(result.value) : result.value
      const failure = isNumeric ? notANumber(value) : tooLong(value)
      if (failure !== undefined) return void failures.refused(field, { failure }, item)
      found[name] = value
    }
    return found
  }
}

const notANumber = (value: unknown): string | undefined =>
  typeof value === 'number' ? undefined : 'is not a number'

/** Characters of a text that names a group: it is kept for each object. */
const longestText = 256

const tooLong = (value: unknown): string | undefined =>
  String(value).length > longestText ? `has more than ${longestText} characters` : undefined

const textsOf = (values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
