import { samplesOf } from '../../cmd/viewtools/samples.ts'
import { reportsOf, type ViewReport } from '../../cmd/viewtools/viewreport.ts'

/** A view with what changed between two readings. */
export interface LiveView extends ViewReport {
  /** Requests and events for each second, of the last readings; the newest is the last one. */
  readonly requestRates: readonly number[]
  readonly eventRates: readonly number[]
}

interface Reading {
  readonly at: number
  readonly views: ReadonlyMap<string, ViewReport>
}

const longest = 40

/** The views of a server by its metrics, which are read again and again. */
export class ViewRates {
  #last: Reading | undefined
  #live = new Map<string, LiveView>()

  /** `at`: milliseconds. */
  read(metrics: string, at: number): readonly LiveView[] {
    const reports = reportsOf(samplesOf(metrics, 'oriel_view_'))
    const last = this.#last
    this.#live = new Map(reports.map(report => [report.view, this.#next(report, last, at)]))
    this.#last = { at, views: new Map(reports.map(report => [report.view, report])) }
    return [...this.#live.values()]
  }

  #next(report: ViewReport, last: Reading | undefined, at: number): LiveView {
    const { requestRates = [], eventRates = [] } = this.#live.get(report.view) ?? {}
    const before = last?.views.get(report.view)
    if (last === undefined || before === undefined) return { ...report, requestRates, eventRates }
    const rate = (now: number, then: number): number =>
      Math.max(0, now - then) / Math.max(0.001, (at - last.at) / 1000)
    return {
      ...report,
      requestRates: [...requestRates, rate(report.requests, before.requests)].slice(-longest),
      eventRates: [...eventRates, rate(report.events, before.events)].slice(-longest),
    }
  }
}
