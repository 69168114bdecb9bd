import { setTimeout as sleep } from 'node:timers/promises'
import { aborted } from '../../framework/async/awaitable.ts'
import type { Decision } from '../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { IsolatedRequest } from '../../framework/contract/pluginsupervisor.ts'
import type { Forwarding } from '../../framework/contract/upstream.ts'
import { ViewFailure } from '../../framework/contract/viewfailure.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { serviceUnavailable } from '../../framework/meta/errors.ts'
import type { PluginOrigin } from '../../framework/plugins/position.ts'
import type { ViewUrls } from '../../framework/publishing/publisher.ts'
import { pathPattern } from '../../framework/request/path.ts'
import { askDecision } from './decision.ts'
import { ProcessHealth } from './health.ts'
import type { AnnouncedView } from './messages.ts'
import type { ProcessMeters } from './meters.ts'
import { relayed } from './relay.ts'
import type { IsolatedPlugin, ViewProcess } from './viewprocess.ts'

/** Reports of the processes of isolated views. */
export interface ProcessReports {
  readonly log: Logger
  readonly processMeters: ProcessMeters
  readonly viewUrls: ViewUrls
}

/** A process that has announced its views, and how to start it again. */
export interface Launching {
  readonly plugin: IsolatedPlugin & { readonly origin: PluginOrigin }
  readonly views: readonly AnnouncedView[]
  /** The process that announced them. */
  readonly first: ViewProcess
  readonly again: () => ViewProcess
}

/** Milliseconds between looks at whether a view is ready. */
const look = 50

/** The process of a plugin, which is started again when it has ended. */
export class IsolatedViews {
  readonly #launching: Launching
  readonly #reports: ProcessReports
  #process: ViewProcess | undefined
  #health: ProcessHealth | undefined
  #ready: ReadonlyMap<string, boolean> = new Map()
  #starting: Promise<ViewProcess> | undefined

  constructor(launching: Launching, reports: ProcessReports) {
    this.#launching = launching
    this.#reports = reports
  }

  get views(): readonly VirtualWorkspace[] {
    return this.#launching.views.map(each => this.#view(each))
  }

  #view({ name, pattern }: AnnouncedView): VirtualWorkspace {
    this.#reports.processMeters.observe(name, () =>
      this.#process?.hasEnded === false ? (this.#health?.memory ?? 0) : 0,
    )
    return {
      name,
      path: pathPattern(pattern),
      apis: () => undefined,
      explain: ctx => this.#decide(name, ctx),
      run: (ready, signal) => this.#run(name, ready, signal),
      plugin: {
        origin: this.#launching.plugin.origin,
        refusal: () => undefined,
        context: ctx => ctx,
        failure: error => error,
        forwarding: request => this.#forwarding(name, request),
        isHealthy: () => this.#ready.get(name) === true,
        notReady: () => undefined,
      },
    }
  }

  #forwarding(name: string, request: IsolatedRequest): Forwarding {
    return relayed(this.#running(name), request, why => this.#failure(name, why))
  }

  /** The 500 of a request that the process did not answer. It is logged. */
  #failure(view: string, why: string): ViewFailure {
    const text = `failed: its process did not answer: ${why}`
    const plugin = this.#launching.plugin.origin.name
    this.#reports.log.error({ view, plugin }, `view ${view} ${text}`)
    return new ViewFailure(`the view ${JSON.stringify(view)} ${text}`)
  }

  #decide(name: string, ctx: RequestContext): Promise<Decision> {
    return askDecision(this.#running(name), ctx)
  }

  #running(name: string): ViewProcess {
    if (this.#process === undefined || this.#process.hasEnded)
      throw serviceUnavailable(`the process of the view ${JSON.stringify(name)} is starting`, 1)
    return this.#process
  }

  /** Serves a view until the signal aborts. Rejects when the process ends before. */
  async #run(name: string, ready: () => void, signal: AbortSignal): Promise<void> {
    const process = await this.#started()
    const over = new AbortController()
    const end = process.ended.finally(() => over.abort())
    void this.#whenReady(name, ready, AbortSignal.any([signal, over.signal]))
    const reason = await Promise.race([end, aborted(signal)])
    if (signal.aborted) return process.stop()
    throw new Error(`the process of the view ended: ${reason}`)
  }

  async #whenReady(name: string, ready: () => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#ready.get(name) !== true) await sleep(look, undefined, { ref: false })
    if (!signal.aborted) ready()
  }

  /** The running process: one for all views of the plugin. */
  #started(): Promise<ViewProcess> {
    if (this.#process?.hasEnded) this.#starting = undefined
    this.#starting ??= this.#start().catch(error => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  async #start(): Promise<ViewProcess> {
    const { plugin, first, again } = this.#launching
    const process = this.#process === undefined ? first : again()
    this.#process = process
    this.#ready = new Map()
    await this.#checked(process)
    const { viewUrls, processMeters } = this.#reports
    const publish = (): void => process.publish({ own: viewUrls.own, current: viewUrls.current() })
    publish()
    const stop = viewUrls.onChange(publish)
    this.#health = new ProcessHealth(process, plugin.memory, ready => {
      this.#ready = ready
    })
    for (const { name } of this.#launching.views) processMeters.started(name)
    void process.ended.then(() => {
      stop()
      this.#ready = new Map()
    })
    return process
  }

  /** Rejects when the views of the process are others than at the start of the server. */
  async #checked(process: ViewProcess): Promise<void> {
    const { views } = await process.announced
    if (JSON.stringify(views) === JSON.stringify(this.#launching.views)) return
    process.kill('its views have other names or paths')
    throw new Error('its views have other names or paths than before: start the server again')
  }
}
