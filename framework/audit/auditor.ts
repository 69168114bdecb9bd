import type { Question } from '../contract/authorizer.ts'
import type { ClusterName } from '../meta/object.ts'
import type { Incoming } from '../request/incoming.ts'
import type { AuditEvent } from './event.ts'
import type { AuditPolicy } from './policy.ts'
import { RequestAudit } from './requestaudit.ts'

/** A destination of events. A write neither throws nor delays the request. */
export interface AuditSink {
  write(event: AuditEvent): void
  /** Resolves when all events are sent or have failed. */
  close(): Promise<void>
}

export interface AuditorOptions {
  readonly policy: AuditPolicy
  readonly sinks: readonly AuditSink[]
  /** The workspace path, such as `root:org:team`; empty if unknown. */
  readonly pathOf: (cluster: ClusterName) => string
  /** The permission that would have allowed a refused request, for an annotation; undefined if there is none. */
  readonly missing?: (question: Question) => string | undefined
}

/** Records requests according to the policy. One auditor for all requests. */
export interface Auditor {
  begin(incoming: Incoming, remoteAddress: string): RequestAudit
}

export function createAuditor(options: AuditorOptions): Auditor {
  const write = (event: AuditEvent): void => {
    for (const sink of options.sinks) sink.write(event)
  }
  return {
    begin: (incoming, remoteAddress) => new RequestAudit({ ...options, write }, incoming, remoteAddress),
  }
}
