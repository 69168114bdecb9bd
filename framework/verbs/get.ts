import { itemAnswer } from '../answers.ts'
import { type Awaitable, after } from '../awaitable.ts'
import { type Call, keyOf } from '../call.ts'
import type { Answer } from '../exchange.ts'
import { objectForm } from '../forms.ts'
import { negotiate } from '../negotiation.ts'
import { checkResourceVersion } from '../options.ts'
import { inProtobuf } from '../protobufforms.ts'

/** Answers with the newest state, which is never older than any `resourceVersion` asked for (chapter 40, rule 4.12). */
export function get(call: Call): Awaitable<Answer> {
  const { ctx, served, request } = call
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = objectForm(served, how, request.query)
  checkResourceVersion(request.query.get('resourceVersion') ?? '')
  return after(served.storage.get(ctx, keyOf(call)), item => itemAnswer(item, form, how))
}
