import { listAnswer } from '../answers.ts'
import { type Call, checkScope } from '../call.ts'
import type { Answer } from '../exchange.ts'
import { listForm } from '../forms.ts'
import { negotiate } from '../negotiation.ts'
import { listOptions } from '../options.ts'
import { inProtobuf } from '../protobufforms.ts'
import { selectionOf } from '../selection.ts'

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
