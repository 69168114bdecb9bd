import { Pace } from '../async/awaitable.ts'
import type { Item } from '../contract/item.ts'
import type { DeleteOptions, ItemList, ListMeta } from '../contract/storage.ts'
import { StatusError } from '../meta/errors.ts'
import { isNotFound } from '../meta/statuschecks.ts'
import { listQuery } from '../query/selection.ts'
import type { Answer } from '../request/response.ts'
import { listAnswer } from '../responses/answers.ts'
import { inProtobuf, listForm } from '../responses/forms.ts'
import { negotiate } from '../responses/negotiation.ts'
import { type Call, checkScope } from './call.ts'
import { readDeleteOptions } from './deleteoptions.ts'
import { admitDeletion } from './fieldtracking.ts'

/** Deletions at the same time: enough to share commits, few enough for other requests to run. */
const atOnce = 16

/** Deletes each object of a list and answers with the list (rules.md 6.17 to 6.19). Not atomic. */
export async function deletecollection(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  checkScope(call)
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = listForm(served, how, request.query)
  const query = listQuery(call)
  const { options } = await readDeleteOptions(request)
  const found = await collect(served.storage.list(ctx, query))
  const queue = found.items[Symbol.iterator]()
  const pace = new Pace()
  await Promise.all(Array.from({ length: atOnce }, () => deleteAll(call, queue, { options, pace })))
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

interface Deleting {
  readonly options: DeleteOptions
  readonly pace: Pace
}

/** Deletions of a dry run do not wait for the store. */
async function deleteAll(call: Call, queue: Iterable<Item>, { options, pace }: Deleting): Promise<void> {
  for (const item of queue) {
    await pace.due()
    await deleteListed(call, item, options)
  }
}

/**
 * Deletes the object with the listed uid, or with the uid in the options. An object that is already deleted is no error.
 */
async function deleteListed(call: Call, item: Item, options: DeleteOptions): Promise<void> {
  const uid = options.uid ?? item.meta.uid
  const check = (current: Item): Promise<void> => admitDeletion(call, item.key, current.object, options)
  try {
    await call.served.storage.delete(call.ctx, item.key, check, { ...options, uid })
  } catch (error) {
    const isOther = options.uid === undefined && isAnother(error)
    if (!isOther && !isNotFound(error)) throw error
  }
}

const isAnother = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 409 && error.message.includes('the UID in the precondition')
