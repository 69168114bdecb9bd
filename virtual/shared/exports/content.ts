import {
  type Awaitable,
  type Decision,
  decisionBy,
  type Host,
  type RequestContext,
} from '../../../framework/index.ts'
import { apisGroup } from '../../../kcp/index.ts'
import type { ExportParams } from './exports.ts'

/** The request's verb on `apiexports/content` of an export, in its logical cluster (chapter 10, section 3.5 B). */
export function mayUseContent(
  { backend }: Host,
  ctx: Pick<RequestContext, 'user' | 'info' | 'signal'>,
  { provider, name }: ExportParams,
): Awaitable<Decision> {
  const exports = { group: apisGroup, version: 'v1alpha1', resource: 'apiexports' }
  const resource = { ...exports, subresource: 'content', namespace: '', name }
  const action = { verb: ctx.info.verb, cluster: provider, resource }
  return decisionBy(backend.authorizer, { user: ctx.user, action }, ctx)
}
