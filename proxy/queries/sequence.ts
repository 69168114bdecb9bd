import { optional } from '../../framework/async/awaitable.ts'
import type { OutgoingResponse } from '../../framework/net/client.ts'
import { elementsOf } from './elements.ts'
import type { MergedPage, MergedPart, PageElements } from './page.ts'
import type { Parameters } from './part.ts'
import type { ListPlace, MergedStart } from './token.ts'

/** The parameters of the list of a part from a place on. */
export function listFrom(place: string, { revision }: MergedPart, limit: number): Parameters {
  const at =
    place === ''
      ? { resourceVersion: revision, resourceVersionMatch: 'Exact', continue: undefined }
      : { resourceVersion: undefined, resourceVersionMatch: undefined, continue: place }
  return { ...at, limit: limit === 0 ? undefined : String(limit) }
}

/** The objects of one shard after those of another. A page goes on in the next shard, unless it is full. */
export const shardByShard = (page: MergedPage): PageElements => (page.limit > 0 ? inPages(page) : whole(page))

/** Asks all shards at once: each of them refuses before the first object is sent. */
async function* whole({ parts, start }: MergedPage): PageElements {
  const asked = parts.map(part => askedList(part, start.places[part.index] ?? ''))
  const places: ListPlace[] = [...start.places]
  await Promise.all(asked.map(({ opened }) => opened))
  for (const { part, response } of asked) places[part.index] = yield* aligned(part, await response())
  return following(start, places)
}

async function* inPages({ parts, limit, start }: MergedPage): PageElements {
  const places: ListPlace[] = [...start.places]
  let left = limit
  for (const part of parts) {
    if (left <= 0) break
    const asked = part.part.ask(listFrom(places[part.index] ?? '', part, left))
    const response = await (left < limit ? asked.catch(() => undefined) : asked)
    // A page ends before a shard that refuses: the next page is refused.
    if (response === undefined) break
    const elements = aligned(part, response)
    let next = await elements.next()
    for (; !next.done; next = await elements.next()) {
      left -= next.value.length
      yield next.value
    }
    places[part.index] = next.value
    // A page whose expressions cost too much ends early.
    if (next.value !== null) break
  }
  return following(start, places)
}

/** Milliseconds after which a list is asked again: a shard ends a list that is not read for 15 seconds. */
const heldFor = 5_000

interface AskedList {
  readonly part: MergedPart
  /** Rejects if the shard refuses. */
  readonly opened: Promise<unknown>
  /** The response, which waits until those before it were read. */
  response(): Promise<OutgoingResponse>
}

function askedList(part: MergedPart, place: string): AskedList {
  const ask = (): Promise<OutgoingResponse> => part.part.ask(listFrom(place, part, 0))
  const first = ask().then(response => ({ response, since: performance.now() }))
  return {
    part,
    opened: first,
    async response() {
      const { response, since } = await first
      if (performance.now() - since < heldFor) return response
      optional(response.body.dump())
      return ask()
    },
  }
}

/** The elements of a response with the columns of the page, and where its next page begins. */
async function* aligned(
  { aligned }: MergedPart,
  response: OutgoingResponse,
): AsyncGenerator<readonly Buffer[], ListPlace> {
  const elements = elementsOf(response)
  let next = await elements.next()
  for (; !next.done; next = await elements.next()) yield next.value.map(aligned)
  return next.value.metadata?.continue || null
}

const following = (start: MergedStart, places: readonly ListPlace[]): MergedStart | undefined =>
  places.some(place => place !== null) ? { ...start, places } : undefined
