import { type Awaitable, after, attempt } from '../async/awaitable.ts'
import {
  type Authorizer,
  actionOf,
  allow,
  type Decision,
  decisionBy,
  forbiddenTo,
} from '../contract/authorizer.ts'
import type { RequestContext } from '../contract/context.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import { forbidden, StatusError, unauthorized } from '../meta/errors.ts'
import type { ClusterName } from '../meta/object.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { Incoming } from '../request/incoming.ts'
import { anonymous, isPrivileged, type UserInfo } from '../request/user.ts'
import type { Target } from './routes.ts'
import type { Exchange } from './serve.ts'

/** The part of a URL that authentication depends on. */
export interface AuthenticationScope {
  readonly cluster?: ClusterName | undefined
  /** The path below the logical cluster. */
  readonly path: string
}

/** The user of a request. Throws 401 for invalid credentials (rules.md 9.2); the reason is logged and not sent. */
export const userOf = (
  authenticator: Authenticator,
  { incoming, record, measured }: Pick<Exchange, 'incoming' | 'record' | 'measured'>,
  { cluster, path }: AuthenticationScope = incoming,
): Awaitable<UserInfo> =>
  attempt(
    () => {
      if (incoming.badCertificate) throw unauthorized('client certificate signed by an unknown authority')
      const found = authenticator.authenticate(incoming.credentials, cluster)
      const known = (user: UserInfo | undefined): UserInfo => user ?? unknown(authenticator, path)
      return found instanceof Promise ? found.finally(() => measured.works()).then(known) : known(found)
    },
    error => {
      if (error instanceof StatusError && error.code === 401)
        record.log.warn({ reason: error.cause ?? 'bad credentials' }, 'authentication failed')
      throw error
    },
  )

function unknown(authenticator: Authenticator, path: string): UserInfo {
  if (authenticator.admitsAnonymous?.(path) === false)
    throw unauthorized('requests without credentials are not accepted')
  return anonymous
}

/** Throws 403 for impersonation headers on endpoints without impersonation. */
export function refuseImpersonation({ impersonates }: Incoming): void {
  if (impersonates) throw forbidden(undefined, 'impersonation is not allowed for the requestor')
}

/** Throws 403 for a URL without a logical cluster, unless the user is privileged. */
export function refuseBareUrl({
  target,
  user,
}: {
  readonly target: Pick<Target, 'cluster' | 'info'>
  readonly user: UserInfo
}): void {
  if (target.cluster === undefined && !isPrivileged(user))
    throw forbiddenTo(user, target.info, 'access denied')
}

/**
 * Throws 403 unless the user is in `system:masters`, or the view's `authorize` or, without one, the backend's authorizer
 * allows the request. Other errors of authorizers become 500.
 */
export function authorize(
  ctx: RequestContext,
  workspace: VirtualWorkspace,
  authorizer: Authorizer,
): Awaitable<void> {
  if (isPrivileged(ctx.user)) return ctx.record.decided?.('request.auth.kcp.io', privileged)
  return after(decide(ctx, workspace, authorizer), decision => enforce(ctx, decision))
}

function enforce(ctx: RequestContext, decision: Decision): void {
  if (decision.authorizer !== undefined) ctx.record.annotate('authorizer', decision.authorizer)
  ctx.record.annotate('decision', decision.effect)
  ctx.record.decided?.('request.auth.kcp.io', decision)
  if (decision.effect !== 'allow') throw forbiddenTo(ctx.user, ctx.info, decision.reason, decision.hint)
}

const privileged = allow('')

function decide(
  ctx: RequestContext,
  workspace: VirtualWorkspace,
  authorizer: Authorizer,
): Awaitable<Decision> {
  if (workspace.authorize !== undefined) return workspace.authorize(ctx)
  return decisionBy(authorizer, { user: ctx.user, action: actionOf(ctx.info, ctx.cluster) }, ctx)
}
