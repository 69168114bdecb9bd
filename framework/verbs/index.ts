import type { Awaitable } from '../async/awaitable.ts'
import { type ApiResource, requireVerb, servedBy } from '../contract/apis.ts'
import type { RequestContext } from '../contract/context.ts'
import { notServed } from '../meta/errors.ts'
import type { Verb } from '../request/requestinfo.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import type { Call, VerbScope } from './call.ts'
import { create } from './create.ts'
import { deleteOne } from './delete.ts'
import { deletecollection } from './deletecollection.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import { update } from './update.ts'
import { watch } from './watch.ts'

const verbs: Readonly<Record<Verb, (call: Call) => Awaitable<Answer>>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection,
}

/**
 * Answers a request for a resource. Throws a `StatusError` before the answer begins: 404 for unknown subresources and
 * wrong scopes, 405 for verbs that are not served, then the errors of the verb.
 */
export function handle(
  ctx: RequestContext,
  resource: ApiResource,
  request: VerbRequest,
  scope: VerbScope,
): Awaitable<Answer> {
  const { info } = ctx
  if (!info.isResource) throw notServed()
  const served = servedBy(resource, info.subresource, info.name)
  requireVerb(served, info.verb)
  if (resource.deprecationWarning !== undefined) ctx.record.warn(resource.deprecationWarning)
  return verbs[info.verb]({ ctx, info, served, request, scope })
}
