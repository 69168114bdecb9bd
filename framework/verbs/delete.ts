import type { Item } from '../contract/item.ts'
import type { Status } from '../meta/errors.ts'
import type { Answer } from '../request/response.ts'
import { itemAnswer } from '../responses/answers.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { inProtobuf, objectForm } from '../responses/forms.ts'
import { negotiate } from '../responses/negotiation.ts'
import { type Call, keyOf } from './call.ts'
import { readDeleteOptions } from './deleteoptions.ts'
import { admitDeletion } from './fieldtracking.ts'

/** DELETE of one object (rules.md 6.5 to 6.8). */
export async function deleteOne(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  const key = keyOf(call)
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = objectForm(served, how, request.query)
  const { options, accepted } = await readDeleteOptions(request)
  const check = (current: Item): Promise<void> => admitDeletion(call, key, current.object, options)
  const { item, removed } = await served.storage.delete(ctx, key, check, options)
  if (removed && !served.resource.deleteReturnsObject) {
    const { transform, ...plain } = how
    return documentAnswer(removedStatus(call, item), plain)
  }
  return itemAnswer(item, form, how, !removed && accepted ? 202 : 200)
}

/** The Status that kubectl waits with: it has the uid (rules.md 6.5). */
function removedStatus({ served }: Call, item: Item): Status {
  const { group, names } = served.resource
  const { name, uid } = item.meta
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind: names.plural, uid },
  }
}
