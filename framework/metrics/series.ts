import type { ResourceRequest } from '../request/requestinfo.ts'
import { createDurations, type DurationHistogram, type DurationObserver } from './durations.ts'

/** Requests with the same labels: plain numbers until the metrics are read. */
export class Series {
  readonly labels: RequestLabels
  /** Without long-running requests. */
  readonly seconds: DurationObserver | undefined
  readonly codes = new Map<number, number>()
  running = 0
  /** Events that were sent to watchers. */
  events = 0

  constructor(labels: RequestLabels, seconds: DurationHistogram) {
    const { verb, scope } = labels
    this.labels = labels
    this.seconds = verb === 'WATCH' ? undefined : seconds.of({ verb, scope })
  }

  count(code: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
  }
}

export interface AllSeries {
  readonly seconds: DurationHistogram
  /** One series for equal labels. */
  of(labels: RequestLabels): Series
  values(): Iterable<Series>
}

export function createAllSeries(): AllSeries {
  const all = new Map<string, Series>()
  const seconds = createDurations({
    name: 'apiserver_request_duration_seconds',
    help: 'Time from the request line to the end of the answer, without long-running requests.',
    buckets: [0.005, 0.025, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60],
  })
  return {
    seconds,
    of(labels) {
      const key = JSON.stringify(labels)
      const found = all.get(key) ?? new Series(labels, seconds)
      all.set(key, found)
      return found
    },
    values: () => all.values(),
  }
}

export type Names = Record<'group' | 'version' | 'resource', string>
export type RequestLabels = Names & Record<'verb' | 'scope' | 'subresource', string>

export function labelsOf(request: ResourceRequest, names: Names): RequestLabels {
  const subresource = names.resource === 'other' ? '' : request.subresource
  return { verb: verbLabels[request.verb], scope: scopeOf(request), ...names, subresource }
}

export function otherLabels(method: string): RequestLabels {
  const verb = methods.has(method) ? method : 'OTHER'
  return { verb, scope: '', group: '', version: '', resource: '', subresource: '' }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const verbLabels: Readonly<Record<ResourceRequest['verb'], string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

function scopeOf({ name, namespace, resource }: ResourceRequest): string {
  if (name !== '') return 'resource'
  return namespace !== '' && resource !== 'namespaces' ? 'namespace' : 'cluster'
}
