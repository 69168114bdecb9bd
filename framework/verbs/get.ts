import { type Awaitable, after } from '../async/awaitable.ts'
import { readResourceVersion } from '../query/options.ts'
import type { Answer } from '../request/response.ts'
import { answering, type Call, keyOf } from './call.ts'

/** Answers with the newest state, which is never older than the `resourceVersion` in the query (rules.md 4.12). */
export function get(call: Call): Awaitable<Answer> {
  const { ctx, served, request } = call
  const answer = answering(call)
  readResourceVersion(request.query.get('resourceVersion'))
  return after(served.storage.get(ctx, keyOf(call)), item => answer(item))
}
