import type { Logger } from '../contract/log.ts'
import type { AuditSink } from './auditor.ts'
import type { AuditMeters } from './meters.ts'

export interface TruncateOptions {
  /** Bytes of the longest event. */
  readonly maxEventSize: number
  readonly meters: AuditMeters
  readonly log: Logger
}

/**
 * The sink, which gets no event that is too long: such an event loses its objects, and is dropped if it is too long without them
 * (`apiserver/plugin/pkg/audit/truncate`).
 */
export function truncating(sink: AuditSink, { maxEventSize, meters, log }: TruncateOptions): AuditSink {
  return {
    write(record) {
      const fitting = record.json.length <= maxEventSize ? record : record.truncated()
      if (fitting !== undefined && fitting.json.length <= maxEventSize) return sink.write(fitting)
      meters.lost('truncate', 1)
      log.error(
        { bytes: (fitting ?? record).json.length },
        'audit event too large even after truncating, dropped',
      )
    },
    close: () => sink.close(),
  }
}
