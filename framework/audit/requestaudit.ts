import type { Decision, Question } from '../contract/authorizer.ts'
import type { DecisionDomain } from '../contract/context.ts'
import { type DecisionStep, isOfView, stepsIn } from '../contract/decisionsteps.ts'
import { StatusError } from '../meta/errors.ts'
import type { ClusterName } from '../meta/object.ts'
import type { Incoming } from '../request/incoming.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import { accountOf, anonymous, type UserInfo } from '../request/user.ts'
import { type BodyCopy, copied } from './bodies.ts'
import {
  type AuditEvent,
  auditUserOf,
  decisionAnnotations,
  microTime,
  objectReference,
  refusedQuestion,
  sourcesOf,
} from './event.ts'
import type { Pending } from './eventencoder.ts'
import { answeredStatus, nameIn, panicStatus, requestedObject } from './objects.ts'
import { type AuditPolicy, type AuditRequirements, type AuditStage, requirementsFor } from './policy.ts'
import type { SharedRoom } from './sharedroom.ts'

/** Shared by the audits of all requests. */
export interface Auditing {
  readonly policy: AuditPolicy
  readonly pathOf: (cluster: ClusterName) => string
  readonly missing?: (question: Question) => string | undefined
  readonly room: SharedRoom
  readonly record: (pending: Pending) => void
}

type ResponseStatus = NonNullable<AuditEvent['responseStatus']>

const now = (): number => performance.timeOrigin + performance.now()

/** The audit of one request: the server adds its results, and an event is written at each stage. */
export class RequestAudit {
  readonly #auditing: Auditing
  readonly #received = now()
  readonly #incoming: Incoming
  readonly #remoteAddress: string
  readonly #annotations: Record<string, string> = {}
  /** The decisions of a view and of the authorizers that it has asked. */
  readonly #steps: DecisionStep[] = []
  #sent: Buffer | undefined
  /** The value of the body, if the verb has decoded it. */
  #decoded: unknown
  #info: RequestInfo
  #user: UserInfo | undefined
  #impersonated: UserInfo | undefined
  #constraint: string | undefined
  #isPlain = true
  #requirements: AuditRequirements | undefined
  #answered: ResponseStatus | undefined
  #copy: BodyCopy | undefined
  #failure: string | undefined

  constructor(auditing: Auditing, incoming: Incoming, remoteAddress: string) {
    this.#auditing = auditing
    this.#incoming = incoming
    this.#remoteAddress = remoteAddress
    this.#info = { isResource: false, verb: incoming.method.toLowerCase(), path: incoming.path }
  }

  /** The same request; its body is kept when it is read, and its value when it is decoded. */
  get incoming(): Incoming {
    const incoming = this.#incoming
    const keep = (bytes: Buffer): Buffer => {
      this.#sent = bytes
      return bytes
    }
    const decoded = (value: unknown): void => {
      this.#decoded = value
    }
    return { ...incoming, body: async limit => keep(await incoming.body(limit)), decoded }
  }

  /** The request, its logical cluster, and whether its URL has no view. */
  about(info: RequestInfo, cluster: ClusterName | undefined, isPlain: boolean): void {
    this.#info = info
    this.#isPlain = isPlain
    if (cluster === undefined) return
    this.#annotations['kcp.io/cluster'] = cluster
    this.#annotations['tenancy.kcp.io/workspace'] = cluster
    this.#annotations['kcp.io/path'] = this.#auditing.pathOf(cluster)
  }

  /** Sets the user, and writes the first event. */
  by(user: UserInfo): void {
    this.#user = user
    this.#write('RequestReceived')
  }

  as(impersonated: UserInfo, constraint?: string): void {
    this.#impersonated = impersonated
    this.#constraint = constraint
  }

  decided(domain: DecisionDomain, decision: Decision): void {
    if (this.#required.level === 'None') return
    Object.assign(this.#annotations, decisionAnnotations(domain, decision))
    if (isOfView(decision)) this.#steps.push(...stepsIn(decision))
    if (domain !== 'request.auth.kcp.io' || decision.effect === 'allow') return
    const question = refusedQuestion(decision)
    const missing = question && this.#auditing.missing?.(question)
    if (missing !== undefined) this.#annotations['oriel/missing'] = missing
  }

  /** The same response, copied as the policy requires. */
  answering(answer: Answer): Answer {
    const { level } = this.#required
    if (level === 'None') return answer
    const { isResource, verb } = this.#info
    const isWatch = isResource && verb === 'watch'
    if (isWatch && answer.status === 200) {
      this.#answered = { metadata: {}, code: answer.status }
      this.#write('ResponseStarted', this.#answered)
      return answer
    }
    this.#answered = answeredStatus(answer)
    return level === 'RequestResponse' ? this.#copied(answer) : answer
  }

  get #account(): string {
    return accountOf(this.#impersonated ?? this.#user, this.#user)
  }

  /** An answer that failed before its first byte has another one. */
  #copied(answer: Answer): Answer {
    this.#copy?.release()
    const { omitManagedFields } = this.#required
    const { answer: same, copy } = copied(answer, {
      room: this.#auditing.room,
      user: this.#account,
      omitManagedFields,
    })
    this.#copy = copy
    return same
  }

  /** An error that is not a `StatusError` is a failure of the server. */
  failed(error: unknown): void {
    if (!(error instanceof StatusError)) this.#failure = String(error)
  }

  /** The response is complete, or the client has closed the connection. */
  close(code: number): void {
    if (this.#failure === undefined) this.#finished(code)
    else this.#write('Panic', panicStatus(this.#failure))
    // The copy of a response that is not recorded.
    this.#copy?.release()
  }

  #finished(code: number): void {
    const status = this.#answered ?? { metadata: {}, code }
    if (this.#user === undefined && status.code === 401) return void this.#write('ResponseStarted', status)
    const copy = this.#copy
    this.#copy = undefined
    if (!this.#write('ResponseComplete', status, copy)) copy?.release()
  }

  get #required(): AuditRequirements {
    this.#requirements ??= requirementsFor(this.#auditing.policy, this.#user ?? anonymous, this.#info)
    return this.#requirements
  }

  /** Whether the policy wants an event of this stage. */
  #write(stage: AuditStage, responseStatus?: ResponseStatus, response?: BodyCopy): boolean {
    const { level, omitStages, omitManagedFields } = this.#required
    if (level === 'None' || omitStages.has(stage)) return false
    const requested = this.#requested()
    const event = this.#event(stage, nameIn(requested), responseStatus)
    const hasBody = level !== 'Metadata' && requested !== undefined
    this.#auditing.record({
      event,
      omitManagedFields,
      user: this.#account,
      sent: hasBody ? (this.#sent?.length ?? 0) : 0,
      ...(hasBody && { requestObject: requested }),
      ...(response && { response }),
    })
    return true
  }

  #event(stage: AuditStage, created: string, responseStatus: ResponseStatus | undefined): AuditEvent {
    const { auditId, headers } = this.#incoming
    const objectRef = objectReference(this.#info, created)
    const agent = headers['user-agent']
    const annotations = this.#annotationsNow()
    return {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: this.#required.level,
      auditID: auditId,
      stage,
      requestURI: this.#requestUri(),
      verb: this.#info.verb,
      user: auditUserOf(this.#userNow()),
      ...(this.#impersonated && { impersonatedUser: auditUserOf(this.#impersonated) }),
      ...(this.#constraint && { authenticationMetadata: { impersonationConstraint: this.#constraint } }),
      sourceIPs: sourcesOf(headers, this.#remoteAddress),
      ...(agent === undefined ? {} : { userAgent: agent }),
      ...(objectRef && { objectRef }),
      ...(responseStatus && { responseStatus }),
      requestReceivedTimestamp: microTime(this.#received),
      stageTimestamp: microTime(stage === 'RequestReceived' ? this.#received : now()),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    }
  }

  #annotationsNow(): Readonly<Record<string, string>> {
    const steps = this.#steps.length > 0 && { 'oriel/steps': JSON.stringify(this.#steps) }
    return { ...this.#annotations, ...steps }
  }

  /** The object of the request, if it is recorded or contains the name that the URL lacks. */
  #requested(): unknown {
    const named = !this.#info.isResource || this.#info.name !== ''
    if (this.#sent === undefined || (named && this.#required.level === 'Metadata')) return undefined
    return requestedObject(this.#incoming, this.#sent, this.#decoded)
  }

  /** The anonymous user before authentication; no user if it has failed. */
  #userNow(): UserInfo {
    if (this.#user !== undefined) return this.#user
    return this.#answered?.code === 401 ? { name: '', groups: [] } : anonymous
  }

  /** As in kcp, which has removed the cluster before it audits. */
  #requestUri(): string {
    const { path, search } = this.#incoming
    return (this.#isPlain ? path.replace(/^\/clusters\/[^/]+/, '') || '/' : path) + search
  }
}
