import { type Awaitable, after } from '../async/awaitable.ts'
import { forbidden, type StatusError } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import type { RequestInfo, ResourceRequest } from '../request/requestinfo.ts'
import { isPrivileged, type UserInfo } from '../request/user.ts'
import { type Action, type Authorizer, allow, type Decision, decisionBy } from './authorizer.ts'
import type { RequestContext } from './context.ts'
import type { VirtualWorkspace } from './workspace.ts'

/** A request as an authorizer sees it. */
export function actionOf(info: RequestInfo | ResourceWish, cluster: ClusterScope): Action {
  if (!info.isResource) return { verb: info.verb, cluster, path: info.path }
  const { group, version, resource, subresource, namespace, name, selectors } = info
  const target = { group, version, resource, subresource, namespace, name }
  return { verb: info.verb, cluster, resource: target, ...selectors }
}

/**
 * Lets a request pass or throws 403. In this order: `system:masters`, the view's own authorizer or, without one,
 * the backend. Whatever else is thrown has not allowed: it ends as a 500.
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

/** What is wanted of a resource, with verbs that no URL has: `impersonate`. */
export type ResourceWish = Omit<ResourceRequest, 'verb'> & { readonly verb: string }

/**
 * The 403 of chapter 40, section 2.3: who may not do what where, and the authorizer's reason if it has one. A hint is a
 * cause, which clients that know nothing of it read past.
 */
export function forbiddenTo(
  user: UserInfo,
  info: RequestInfo | ResourceWish,
  reason = '',
  hint?: string,
): StatusError {
  const why = escapeHtml(`User ${JSON.stringify(user.name)} cannot ${info.verb} ${objectOf(info)}`)
  const causes = hint === undefined ? undefined : [{ reason: 'MissingPermission', message: hint }]
  return forbidden(info.isResource ? info : undefined, reason === '' ? why : `${why}: ${reason}`, causes)
}

function objectOf(info: RequestInfo | ResourceWish): string {
  if (!info.isResource) return `path ${JSON.stringify(info.path)}`
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace "${info.namespace}"`
  return `resource "${resource}" in API group "${info.group}" ${where}`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, character => entities[character] ?? '')
