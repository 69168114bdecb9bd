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
export async function* shardByShard({ parts, limit, start }: MergedPage): PageElements {
  const places: ListPlace[] = [...start.places]
  let left = limit
  for (const each of parts) {
    if (limit > 0 && left <= 0) break
    const { part, index, aligned } = each
    const elements = elementsOf(await part.ask(listFrom(places[index] ?? '', each, left)))
    let next = await elements.next()
    for (; !next.done; next = await elements.next()) {
      left -= next.value.length
      yield next.value.map(aligned)
    }
    places[index] = next.value.metadata?.continue || null
    // A page whose expressions cost too much ends early.
    if (places[index] !== null) break
  }
  return following(start, places)
}

const following = (start: MergedStart, places: readonly ListPlace[]): MergedStart | undefined =>
  places.some(place => place !== null) ? { ...start, places } : undefined
