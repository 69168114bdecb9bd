import { listQuery } from '../query/selection.ts'
import type { Answer } from '../request/response.ts'
import { listAnswer } from '../responses/answers.ts'
import { inProtobuf, listForm } from '../responses/forms.ts'
import { negotiate } from '../responses/negotiation.ts'
import { type Call, checkScope } from './call.ts'

/** Streams the items while they are read. */
export async function list(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  checkScope(call)
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = listForm(served, how, request.query)
  return listAnswer(served.storage.list(ctx, listQuery(call)), form, how)
}
