import type { Question } from '../contract/authorizer.ts'
import type { ClusterName } from '../meta/object.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Incoming } from '../request/incoming.ts'
import { EventEncoder } from './eventencoder.ts'
import type { AuditMeters } from './meters.ts'
import type { AuditPolicy } from './policy.ts'
import type { AuditRecord } from './record.ts'
import { RequestAudit } from './requestaudit.ts'
import { SharedRoom } from './sharedroom.ts'

/** A destination of events. A write neither throws nor delays the request. */
export interface AuditSink {
  write(record: AuditRecord): void
  /** Resolves when all events are sent or have failed. */
  close(): Promise<void>
}

export interface AuditorOptions {
  readonly policy: AuditPolicy
  readonly sinks: readonly AuditSink[]
  readonly meters: AuditMeters
  /** The workspace path, such as `root:org:team`; empty if unknown. */
  readonly pathOf: (cluster: ClusterName) => string
  /** The permission that would have allowed a refused request, for an annotation; undefined if there is none. */
  readonly missing?: (question: Question) => string | undefined
}

/** Records requests according to the policy. One auditor for all requests. */
export interface Auditor {
  begin(incoming: Incoming, remoteAddress: string): RequestAudit
  /** Counts events in these metrics. */
  measure(metrics: Pick<Metrics, 'meter'>): void
  /** Resolves when the sinks have all events of requests that have ended. */
  close(): Promise<void>
}

/** Bytes of bodies that wait to be recorded: clients may read slowly. */
const mostWaiting = 128 * 1024 * 1024

export function createAuditor(options: AuditorOptions): Auditor {
  const { sinks, meters } = options
  const room = new SharedRoom(mostWaiting)
  const encoder = new EventEncoder(room, record => {
    meters.written()
    for (const sink of sinks) sink.write(record)
  })
  const auditing = { ...options, room, record: encoder.add.bind(encoder) }
  return {
    begin: (incoming, remoteAddress) => new RequestAudit(auditing, incoming, remoteAddress),
    measure: metrics => meters.measure(definition => metrics.meter(definition)),
    close: () => encoder.close(),
  }
}
