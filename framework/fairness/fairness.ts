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

/** kube-apiserver's names of two kinds, in `apiserver_current_inflight_requests`. */
type RequestKind = 'readOnly' | 'mutating' | 'longRunning'

const kubernetesWait = 15_000

/** Makes the seats and their metrics, with the names of `k8s.io/apiserver/pkg/util/flowcontrol/metrics`. */
export function createFairness(limits: FairnessLimits, metrics: Metrics): Fairness {
  const left = measureQueue(metrics)
  const seatsOf = (kind: RequestKind, seats: number, longestWait: number): Seats =>
    new Seats({ seats, longestWait, left: left(kind) })
  const longestWait = limits.longestWait ?? kubernetesWait
  const fairness = {
    reading: seatsOf('readOnly', limits.reading, longestWait),
    mutating: seatsOf('mutating', limits.mutating, longestWait),
    watching: seatsOf('longRunning', limits.watching, 0),
    systemGroups: new Set(limits.systemGroups),
    beginnings: new Beginnings(),
  }
  measureSeats(metrics, fairness)
  return fairness
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
  ['nominal_limit_seats', 'Seats, without the reserve; 0 without a limit.', seats => seats.options.seats],
  ['current_executing_requests', 'Requests that have a seat.', ({ all }: { all: Counts }) => all.executing],
  ['current_inqueue_requests', 'Requests in the queue.', ({ all }: { all: Counts }) => all.waiting],
  [
    'current_stalled_requests',
    'Requests that wait for their client without a seat.',
    ({ all }) => all.stalled,
  ],
]

function measureSeats(metrics: Metrics, { reading, mutating, watching }: Fairness): void {
  for (const [name, help, read] of gauges)
    metrics.meter({
      kind: 'gauge',
      name: `apiserver_flowcontrol_${name}`,
      help,
      labels: level,
      collect: set => {
        set({ priority_level: 'readOnly' }, read(reading))
        set({ priority_level: 'mutating' }, read(mutating))
        set({ priority_level: 'longRunning' }, read(watching))
      },
    })
}
