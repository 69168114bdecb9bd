import type { MeterDefinition, MetricRecorder } from '../metrics/meter.ts'

/** The part of Kubernetes' auditing that has lost an event. */
export type AuditPlugin = 'log' | 'webhook' | 'buffered' | 'truncate'

type Meter = (definition: MeterDefinition) => MetricRecorder

/** Counts events, and those that were lost, as Kubernetes does (`apiserver/pkg/audit/metrics.go`). */
export class AuditMeters {
  #events: MetricRecorder = () => undefined
  #errors: MetricRecorder = () => undefined

  /** Counts in these metrics from now on. */
  measure(meter: Meter): void {
    this.#events = meter({
      kind: 'counter',
      name: 'apiserver_audit_event_total',
      help: 'Counter of audit events generated and sent to the audit backend.',
      labels: [],
    })
    this.#errors = meter({
      kind: 'counter',
      name: 'apiserver_audit_error_total',
      help: 'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
      labels: ['plugin'],
    })
    this.#events({}, 0)
  }

  written(): void {
    this.#events({}, 1)
  }

  lost(plugin: AuditPlugin, events: number): void {
    this.#errors({ plugin }, events)
  }
}
