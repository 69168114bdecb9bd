import { notServed } from '../../framework/meta/errors.ts'
import { elementsOf, type ListDocument } from './elements.ts'
import { askAll, type Parameters, type ShardPart } from './part.ts'

/** A part that has the resource. */
export interface ProbedPart {
  readonly part: ShardPart
  /** Its index among all shards. */
  readonly index: number
  /** A list of it without objects. */
  readonly head: ListDocument
}

/** At least one, in the order of the names of shards. */
export type ProbedParts = readonly [ProbedPart, ...ProbedPart[]]

/** No object has a label and has it not: such a list has a version, columns and errors, and evaluates no expression. */
const nothing = 'query.oriel.dev/none,!query.oriel.dev/none'

/**
 * Asks all shards for an empty list, so that errors are found before the first object is sent. `versions`: the version that each part
 * is asked for. Throws 404 if no shard has the resource.
 */
export async function probe(
  parts: readonly ShardPart[],
  query: URLSearchParams,
  versions: readonly string[],
): Promise<ProbedParts> {
  const labels = query.get('labelSelector') ?? ''
  const labelSelector = labels === '' ? nothing : `${labels},${nothing}`
  const match = query.get('resourceVersionMatch') ?? undefined
  const heads = await askAll(parts, (part, i) => {
    const version = versions[i] || undefined
    // The part did not have the resource at this version.
    if (version === '0' && match === 'Exact') return Promise.resolve(undefined)
    const asked = { resourceVersion: version, resourceVersionMatch: version && match }
    return headOf(part, { ...asked, labelSelector, limit: '1', continue: undefined })
  })
  const found = parts.flatMap((part, index) => {
    const head = heads[index]
    return head === undefined ? [] : [{ part, index, head }]
  })
  const [first, ...others] = found
  if (first === undefined) throw notServed()
  return [first, ...others]
}

async function headOf(part: ShardPart, parameters: Parameters): Promise<ListDocument> {
  const elements = elementsOf(await part.ask(parameters))
  let next = await elements.next()
  while (!next.done) next = await elements.next()
  return next.value
}
