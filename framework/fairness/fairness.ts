import type { Metrics } from '../metrics/metrics.ts'
import type { Counts } from './flows.ts'
import type { Rejection } from './queue.ts'
import { Beginnings, Seats } from './seats.ts'

/** The limits of concurrent requests. */
export interface FairnessLimits {
  /** Requests that read; 0: no limit. */
  readonly reading: number
  /** Requests that write; 0: no limit. */
  readonly mutating: number
  /** Watches and other long-running requests; 0: no limit. */
  readonly watching: number
  /** Groups of administrators and of other servers: their requests have a reserve of seats, and precede others. */
  readonly systemGroups?: readonly string[]
  /** Milliseconds in the queue after which a request is refused; default 15,000, a quarter of the request timeout. */
  readonly longestWait?: number
}

/** Kubernetes' defaults of `--max-requests-inflight` and `--max-mutating-requests-inflight` (rules.md 1.50); it has no limit of watches. */
export const defaultLimits: FairnessLimits = { reading: 400, mutating: 200, watching: 20_000 }

/** The seats of requests. */
export interface Fairness {
  readonly reading: Seats
  readonly mutating: Seats
  readonly watching: Seats
  readonly systemGroups: ReadonlySet<string>
  readonly beginnings: Beginnings
}

type SeatKind = 'reading' | 'mutating' | 'watching'

/** kube-apiserver's names of two kinds, in `apiserver_current_inflight_requests`. */
type RequestKind = 'readOnly' | 'mutating' | 'longRunning'

const kubernetesWait = 15_000

/** Makes the seats and their metrics, with the names of `k8s.io/apiserver/pkg/util/flowcontrol/metrics`. */
export const createFairness = (limits: FairnessLimits, metrics: Metrics): Fairness =>
  fairnessByServer(limits, metrics)('')

/**
 * The seats of requests that are forwarded: each server has as many of its own, so that requests for one that does not answer
 * take none of the others. The metrics have the limits of one server, and the sums of requests.
 */
export function fairnessByServer(limits: FairnessLimits, metrics: Metrics): (server: string) => Fairness {
  const left = measureQueue(metrics)
  const longestWait = limits.longestWait ?? kubernetesWait
  const seatsOf = (kind: RequestKind, seats: number, longestWait: number): Seats =>
    new Seats({ seats, longestWait, left: left(kind) })
  const systemGroups = new Set(limits.systemGroups)
  const beginnings = new Beginnings()
  const all = new Map<string, Fairness>()
  measureSeats(metrics, limits, () => [...all.values()])
  return server => {
    const fairness = all.get(server) ?? {
      reading: seatsOf('readOnly', limits.reading, longestWait),
      mutating: seatsOf('mutating', limits.mutating, longestWait),
      watching: seatsOf('longRunning', limits.watching, 0),
      systemGroups,
      beginnings,
    }
    all.set(server, fairness)
    return fairness
  }
}

const level = ['priority_level'] as const

function measureQueue(metrics: Metrics) {
  const waits = metrics.meter({
    kind: 'histogram',
    name: 'apiserver_flowcontrol_request_wait_duration_seconds',
    help: 'Time that requests have waited in the queue, without those that did not wait.',
    labels: [...level, 'execute'],
    buckets: [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  })
  const rejections = metrics.meter({
    kind: 'counter',
    name: 'apiserver_flowcontrol_rejected_requests_total',
    help: 'Requests that were refused with 429, or ended in the queue.',
    labels: [...level, 'reason'],
  })
  return (kind: RequestKind) =>
    (seconds: number, rejection?: Rejection): void => {
      waits({ priority_level: kind, execute: String(rejection === undefined) }, seconds)
      if (rejection !== undefined) rejections({ priority_level: kind, reason: rejection }, 1)
    }
}

/** Metrics that are read from the seats. */
const gauges: readonly (readonly [name: string, help: string, read: (seats: Seats) => number])[] = [
  ['current_executing_requests', 'Requests that have a seat.', ({ all }: { all: Counts }) => all.executing],
  ['current_inqueue_requests', 'Requests in the queue.', ({ all }: { all: Counts }) => all.waiting],
  [
    'current_stalled_requests',
    'Requests that wait for their client without a seat.',
    ({ all }) => all.stalled,
  ],
]

function measureSeats(metrics: Metrics, limits: FairnessLimits, all: () => readonly Fairness[]): void {
  const gauge = (name: string, help: string, of: (kind: SeatKind) => number): void => {
    metrics.meter({
      kind: 'gauge',
      name: `apiserver_flowcontrol_${name}`,
      help,
      labels: level,
      collect: set => {
        set({ priority_level: 'readOnly' }, of('reading'))
        set({ priority_level: 'mutating' }, of('mutating'))
        set({ priority_level: 'longRunning' }, of('watching'))
      },
    })
  }
  gauge('nominal_limit_seats', 'Seats, without the reserve; 0 without a limit.', kind => limits[kind])
  for (const [name, help, read] of gauges)
    gauge(name, help, kind => all().reduce((sum, fairness) => sum + read(fairness[kind]), 0))
}
