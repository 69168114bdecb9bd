import { listAnswer } from '../answers/answers.ts'
import { listForm } from '../answers/forms.ts'
import { negotiate } from '../answers/negotiation.ts'
import type { Answer } from '../exchange.ts'
import { inProtobuf } from '../protobuf/forms.ts'
import { listOptions } from '../request/options.ts'
import { selectionOf } from '../selectors/selection.ts'
import { type Call, checkScope } from './call.ts'

/** Streams the items as they are read (chapter 40, sections 4.1–4.5). */
export async function list(call: Call): Promise<Answer> {
  const { ctx, info, served, request } = call
  checkScope(call)
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = listForm(served, how, request.query)
  const selection = selectionOf(ctx, info, request.query, served.resource)
  const query = { ...selection, ...listOptions(request.query) }
  return listAnswer(served.storage.list(ctx, query), form, how)
}
