import type { Status } from '../meta/errors.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import type { AuditLevel, AuditStage } from './policy.ts'

/** An `audit.k8s.io/v1` Event, its members in the order in which Kubernetes writes them. */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: 'audit.k8s.io/v1'
  readonly level: AuditLevel
  readonly auditID: string
  readonly stage: AuditStage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditUser
  readonly impersonatedUser?: AuditUser
  /** The verb of constrained impersonation. */
  readonly authenticationMetadata?: { readonly impersonationConstraint: string }
  readonly sourceIPs?: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: ObjectReference
  readonly responseStatus?: Partial<Status> & { readonly code: number }
  readonly requestObject?: unknown
  readonly responseObject?: unknown
  /** With microseconds. */
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

export interface AuditUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface ObjectReference {
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly apiGroup?: string
  readonly apiVersion?: string
  readonly subresource?: string
}

export const auditUserOf = ({ name, uid, groups, extra }: UserInfo): AuditUser => ({
  ...(name === '' ? {} : { username: name }),
  ...(uid ? { uid } : {}),
  ...(groups.length === 0 ? {} : { groups }),
  ...(extra === undefined ? {} : { extra }),
})

/** `created`: the name in the body of a request whose URL has none. */
export function objectReference(info: RequestInfo, created: string): ObjectReference | undefined {
  if (!info.isResource) return undefined
  const { resource, namespace, group, version, subresource } = info
  const name = info.name || created
  return {
    resource,
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { apiGroup: group }),
    apiVersion: version,
    ...(subresource === '' ? {} : { subresource }),
  }
}
