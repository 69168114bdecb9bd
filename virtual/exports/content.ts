import type { Decision, Host, RequestContext } from '../../framework/index.ts'
import type { ExportParams } from './types.ts'

/** The request's verb on `apiexports/content` of an export, in its logical cluster (chapter 10, section 3.5 B). */
export function mayUseContent(
  { backend }: Host,
  { user, info, signal }: Pick<RequestContext, 'user' | 'info' | 'signal'>,
  { provider, name }: ExportParams,
): Promise<Decision> {
  const exports = { group: 'apis.kcp.io', version: 'v1alpha1', resource: 'apiexports' }
  const resource = { ...exports, subresource: 'content', namespace: '', name }
  return backend.authorizer.authorize(user, { verb: info.verb, cluster: provider, resource }, signal)
}
