import { type Awaitable, after } from '../async/awaitable.ts'
import { checkResourceVersion } from '../query/options.ts'
import type { Answer } from '../request/response.ts'
import { itemAnswer } from '../responses/answers.ts'
import { inProtobuf, objectForm } from '../responses/forms.ts'
import { negotiate } from '../responses/negotiation.ts'
import { type Call, keyOf } from './call.ts'

/** Answers with the newest state, which is never older than the `resourceVersion` in the query (rules.md 4.12). */
export function get(call: Call): Awaitable<Answer> {
  const { ctx, served, request } = call
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = objectForm(served, how, request.query)
  checkResourceVersion(request.query.get('resourceVersion') ?? '')
  return after(served.storage.get(ctx, keyOf(call)), item => itemAnswer(item, form, how))
}
