import { itemAnswer } from '../answers/answers.ts'
import { objectForm } from '../answers/forms.ts'
import { negotiate } from '../answers/negotiation.ts'
import { type Awaitable, after } from '../awaitable.ts'
import type { Answer } from '../exchange.ts'
import { inProtobuf } from '../protobuf/forms.ts'
import { checkResourceVersion } from '../request/options.ts'
import { type Call, keyOf } from './call.ts'

/** Answers with the newest state, which is never older than any `resourceVersion` asked for (chapter 40, rule 4.12). */
export function get(call: Call): Awaitable<Answer> {
  const { ctx, served, request } = call
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = objectForm(served, how, request.query)
  checkResourceVersion(request.query.get('resourceVersion') ?? '')
  return after(served.storage.get(ctx, keyOf(call)), item => itemAnswer(item, form, how))
}
