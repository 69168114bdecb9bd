import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { Decision } from '../contract/authorizer.ts'
import type { DecisionDomain } from '../contract/context.ts'
import { isOfView, printStep, stepsIn } from '../contract/decisionsteps.ts'
import type { Status } from '../meta/errors.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import type { AuditLevel, AuditStage } from './policy.ts'

/** An `audit.k8s.io/v1` Event, with the members in the order of Kubernetes, and without the objects of request and response. */
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
  /** MicroTime. */
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

/** `created`: the name in the body of a request without a name in its URL. */
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

/** `metav1.MicroTime` of milliseconds since the epoch, with fractions. */
export function microTime(milliseconds: number): string {
  const whole = Math.floor(milliseconds)
  const micros = Math.floor((milliseconds - whole) * 1000)
  return new Date(whole).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}

/**
 * The source IPs: those in headers of proxies, which clients can forge, then the address of the connection
 * (`utilnet.SourceIPs`).
 */
export function sourcesOf(headers: IncomingHttpHeaders, remoteAddress: string): readonly string[] {
  const said = [headers['x-forwarded-for'], headers['x-real-ip']].flatMap(value =>
    String(value ?? '').split(','),
  )
  const known = [...said.map(text => text.trim()), remoteAddress.replace(/^::ffff:/, '')]
  return [...new Set(known.filter(address => isIP(address) > 0))]
}

/**
 * The annotations of kcp: two of Kubernetes for the decision, and two for each step (kcp
 * `pkg/authorization/decorator.go`). Views ask the same authorizers in several logical clusters: only the steps of the
 * view have names.
 */
export function decisionAnnotations(domain: DecisionDomain, decision: Decision): Record<string, string> {
  const annotations: Record<string, string> = {}
  if (domain === 'request.auth.kcp.io') {
    annotations['authorization.k8s.io/decision'] = decision.effect === 'allow' ? 'allow' : 'forbid'
    annotations['authorization.k8s.io/reason'] = decision.reason
  }
  const printed = isOfView(decision) ? (decision.trace ?? []).map(printStep) : stepsIn(decision)
  for (const { authorizer, decision: said, reason } of printed) {
    if (authorizer === '') continue
    annotations[`${domain}/${authorizer}-decision`] = said
    annotations[`${domain}/${authorizer}-reason`] = reason
  }
  return annotations
}

/** The question of a refusal; of the refusing step, if there are several. */
export function refusedQuestion(decision: Decision): Decision['asked'] {
  const last = decision.trace?.at(-1)
  return (last === undefined ? undefined : refusedQuestion(last)) ?? decision.asked
}
