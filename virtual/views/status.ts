import { setTimeout as sleep } from 'node:timers/promises'
import { Pace } from '../../framework/async/awaitable.ts'
import { Backoff } from '../../framework/async/backoff.ts'
import { type Host, type Item, type KubeObject, loopbackContext } from '../../framework/index.ts'
import { isNotFound } from '../../framework/meta/statuschecks.ts'
import { withoutVersion } from '../../framework/publishing/publisher.ts'
import { type ConditionState, isFalse, isTrue, resources, setConditions } from '../../kcp/index.ts'
import { idOf, type ViewApis } from './apis.ts'
import { ownSources } from './sources.ts'
import type { ViewObject, ViewParams } from './types.ts'

/** Milliseconds in which changes are collected. */
const gather = 20
/** Milliseconds between two writes of failures of expressions. */
const failuresEvery = 2_000
const pauses = { first: 200, longest: 30_000 }

/** Keeps conditions and failures in the status of all Views. */
export class ViewStatuses {
  readonly #host: Host
  readonly #apis: () => ViewApis
  readonly #work = new Map<string, ViewParams>()
  readonly #failing = new Map<string, ViewParams>()
  #wake: () => void = () => undefined

  constructor(host: Host, apis: () => ViewApis) {
    this.#host = host
    this.#apis = apis
  }

  /** An expression of the View failed for another object. */
  readonly failed = (params: ViewParams): void => {
    this.#failing.set(idOf(params), params)
  }

  /** Writes until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const views = this.#host.informers.for(resources.views)
    const add = ({ key }: Item): void => {
      const params = { owner: key.cluster, view: key.name }
      this.#work.set(idOf(params), params)
      this.#wake()
    }
    const all = (): void => views.list().forEach(add)
    const stops = [
      views.onEvent(({ type, item }) => void (type !== 'DELETED' && type !== 'BOOKMARK' && add(item))),
      ...[resources.apiExports, resources.apiResourceSchemas].map(ref =>
        this.#host.informers.for(ref).onEvent(all),
      ),
      ...ownSources.map(ref =>
        this.#host.informers.for(ref).onEvent(({ item }) => views.list(item.key.cluster).forEach(add)),
      ),
    ]
    const timer = setInterval(() => this.#reportFailures(), failuresEvery).unref()
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    const backoff = new Backoff(pauses)
    while (!signal.aborted) {
      if (await this.#drained(signal)) backoff.reset()
      else await backoff.pause(signal)
      // The first change after a pause is written at once, and those that follow it are collected.
      await sleep(gather, undefined, { signal }).catch(() => undefined)
      if (this.#work.size === 0 && !signal.aborted) await this.#nextWork()
    }
    clearInterval(timer)
    for (const stop of stops) stop()
  }

  #reportFailures(): void {
    for (const [id, params] of this.#failing) this.#work.set(id, params)
    if (this.#failing.size > 0) this.#wake()
    this.#failing.clear()
  }

  #nextWork(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  /** Whether all writes succeeded; the others are repeated. */
  async #drained(signal: AbortSignal): Promise<boolean> {
    const work = [...this.#work]
    this.#work.clear()
    let isDone = true
    const pace = new Pace()
    for (const [id, params] of work) {
      const wait = pace.due()
      if (wait !== undefined) await wait
      if (signal.aborted) return true
      try {
        await this.#write(params, signal)
      } catch (error) {
        if (isNotFound(error)) continue
        this.#host.log.warn({ view: id, error: String(error) }, 'updating the status of a View failed')
        this.#work.set(id, params)
        isDone = false
      }
    }
    return isDone
  }

  async #write(params: ViewParams, signal: AbortSignal): Promise<void> {
    const item = this.#apis().find(params)
    if (item === undefined || this.#withStatus(params, item.object) === item.object) return
    const { backend, log } = this.#host
    const resource = { ...resources.views, subresource: 'status' }
    const ctx = loopbackContext({ verb: 'update', resource, cluster: item.key.cluster, signal, log })
    const change = ({ object }: Item): KubeObject => withoutVersion(this.#withStatus(params, object))
    await backend.storage(resource).update(ctx, item.key, change, { dryRun: false, fieldManager: 'views' })
  }

  /** The same object when nothing changes. */
  #withStatus(params: ViewParams, object: KubeObject): KubeObject {
    const view = object as ViewObject
    const compiled = this.#apis().of(params)
    const conditions = setConditions(view.status?.conditions, conditionsOf(view, compiled?.plan.problems))
    const { failures: known = [], ...status } = view.status ?? {}
    const failures = compiled?.failures.all ?? []
    const observedGeneration = view.metadata.generation as number
    const isSame =
      conditions === status.conditions &&
      status.observedGeneration === observedGeneration &&
      JSON.stringify(known) === JSON.stringify(failures)
    if (isSame) return object
    const next = { ...status, observedGeneration, conditions }
    return { ...object, status: { ...next, ...(failures.length > 0 && { failures }) } }
  }
}

type Problems = NonNullable<ReturnType<ViewApis['of']>>['plan']['problems']

/** `problems`: undefined while there is no source. */
function conditionsOf({ spec }: ViewObject, problems: Problems | undefined): readonly ConditionState[] {
  const source = sourceCondition(spec, problems)
  const wrong = (problems ?? []).filter(({ about }) => about === 'expression')
  const expressions =
    problems === undefined
      ? ({ type: 'ExpressionsValid', status: 'Unknown' } as const)
      : conditionFor('ExpressionsValid', 'InvalidExpressions', wrong)
  const bad = [source, expressions].find(({ status }) => status === 'False')
  return [bad === undefined ? isTrue('Ready') : { ...bad, type: 'Ready' }, source, expressions]
}

function sourceCondition(spec: ViewObject['spec'], problems: Problems | undefined): ConditionState {
  if (problems !== undefined)
    return conditionFor(
      'SourceReady',
      'ResourceNotFound',
      problems.filter(({ about }) => about === 'source'),
    )
  const name = spec?.source?.apiExport
  const message =
    name === undefined
      ? 'the workspace does not exist'
      : `APIExport ${JSON.stringify(name)} does not exist in this workspace, or has no identity yet`
  return isFalse('SourceReady', 'Error', 'SourceNotFound', message)
}

function conditionFor(type: string, reason: string, problems: Problems): ConditionState {
  if (problems.length === 0) return isTrue(type)
  const message = problems.map(problem => `${problem.field}: ${problem.message}`).join('\n')
  return isFalse(type, 'Error', reason, message)
}
