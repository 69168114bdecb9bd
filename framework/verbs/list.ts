import { listAnswer } from '../answers/answers.ts'
import { listForm } from '../answers/forms.ts'
import { negotiate } from '../answers/negotiation.ts'
import type { Answer } from '../exchange.ts'
import { inProtobuf } from '../protobuf/forms.ts'
import { type Call, checkScope } from './call.ts'
import { listQuery } from './query.ts'

/** Streams the items as they are read (chapter 40, sections 4.1–4.5). */
export async function list(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  checkScope(call)
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = listForm(served, how, request.query)
  return listAnswer(served.storage.list(ctx, listQuery(call)), form, how)
}
