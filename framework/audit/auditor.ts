import type { Question } from '../contract/authorizer.ts'
import type { ClusterName } from '../meta/object.ts'
import type { Incoming } from '../request/incoming.ts'
import type { AuditEvent } from './event.ts'
import type { AuditPolicy } from './policy.ts'
import { RequestAudit } from './requestaudit.ts'

/** Where events go. Writing never throws and never waits for the request's sake. */
export interface AuditSink {
  write(event: AuditEvent): void
  /** Resolves when everything that was written has left, or cannot. */
  close(): Promise<void>
}

export interface AuditorOptions {
  readonly policy: AuditPolicy
  readonly sinks: readonly AuditSink[]
  /** `root:org:team`; '' when nobody knows. */
  readonly pathOf: (cluster: ClusterName) => string
  /** What would have allowed a request that was refused; undefined when nothing would. As an annotation. */
  readonly missing?: (question: Question) => string | undefined
}

/** Writes down who did what, as far as the policy wants it. One for all requests. */
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
