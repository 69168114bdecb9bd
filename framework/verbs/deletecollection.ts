import { listAnswer } from '../answers/answers.ts'
import { listForm } from '../answers/forms.ts'
import { negotiate } from '../answers/negotiation.ts'
import { StatusError } from '../errors.ts'
import type { Answer } from '../exchange.ts'
import type { Item } from '../item.ts'
import { inProtobuf } from '../protobuf/forms.ts'
import { listOptions } from '../request/options.ts'
import { selectionOf } from '../selectors/selection.ts'
import type { DeleteOptions, ItemList, ListMeta } from '../storage.ts'
import { admitDeletion, type Call, checkScope } from './call.ts'
import { readDeleteOptions } from './deleteoptions.ts'

/** Deletions that are under way at the same time: enough to share commits, few enough to leave room for others. */
const atOnce = 16

/** Deletes what a list finds, one by one, and answers with that list (chapter 40, section 6.4). Not atomic. */
export async function deletecollection(call: Call): Promise<Answer> {
  const { ctx, info, served, request } = call
  checkScope(call)
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = listForm(served, how, request.query)
  const selection = selectionOf(ctx, info, request.query, served.resource)
  const query = { ...selection, ...listOptions(request.query) }
  const { options } = await readDeleteOptions(request)
  const found = await collect(served.storage.list(ctx, query))
  const queue = found.items[Symbol.iterator]()
  await Promise.all(Array.from({ length: atOnce }, () => deleteAll(call, queue, options)))
  return listAnswer(again(found), form, how)
}

interface Found {
  readonly items: readonly Item[]
  readonly meta: ListMeta
}

async function collect(list: ItemList): Promise<Found> {
  const items: Item[] = []
  let next = await list.next()
  for (; !next.done; next = await list.next()) items.push(...next.value)
  return { items, meta: next.value }
}

async function* again({ items, meta }: Found): ItemList {
  yield items
  return meta
}

async function deleteAll(call: Call, queue: Iterable<Item>, options: DeleteOptions): Promise<void> {
  for (const item of queue) await deleteListed(call, item, options)
}

/** Exactly the object that was listed; one that is gone meanwhile is none of our business. */
async function deleteListed(call: Call, item: Item, options: DeleteOptions): Promise<void> {
  const { uid } = item.meta
  const check = (current: Item): Promise<void> => admitDeletion(call, current.object, options.dryRun)
  try {
    await call.served.storage.delete(call.ctx, item.key, check, { ...options, uid })
  } catch (error) {
    const isGone = error instanceof StatusError && (error.code === 404 || isOther(error))
    if (!isGone) throw error
  }
}

const isOther = ({ code, message }: StatusError): boolean =>
  code === 409 && message.includes('the UID in the precondition')
