import { shardBytes } from '../../framework/net/client.ts'
import type { Answer } from '../../framework/request/response.ts'
import { askAll, type ShardPart } from './part.ts'

/** Discovery and OpenAPI: the documents of all shards together. Throws 404 if no shard has the document. */
export async function documentOf(parts: readonly ShardPart[]): Promise<Answer> {
  // The hash is that of the document of one shard.
  const answers = await askAll(parts, part => part.ask({ hash: undefined }))
  const found = answers.filter(answer => answer !== undefined)
  const bodies = await Promise.all(found.map(({ body }) => shardBytes(body)))
  const contentType = String(found[0]?.headers['content-type'] ?? 'application/json')
  const isJson = contentType.startsWith('application/json')
  const body =
    isJson && bodies.length > 1 ? Buffer.from(JSON.stringify(united(bodies.map(parsed)))) : bodies[0]
  return { status: 200, contentType, body: body ?? Buffer.alloc(0) }
}

const parsed = (body: Buffer): unknown => JSON.parse(body.toString())

/** All documents as one; the first one takes precedence. */
export const united = (documents: readonly unknown[]): unknown => documents.reduce(unitedTwo)

/** The members whose values are united: lists of discovery, and maps of OpenAPI. */
const containers = new Set([
  ...['items', 'groups', 'versions', 'resources'],
  ...['paths', 'components', 'schemas', 'definitions'],
])

type Members = Readonly<Record<string, unknown>>

function unitedTwo(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b)) return unitedLists(a, b)
  if (!isMembers(a) || !isMembers(b)) return a
  const more = Object.entries(b).flatMap(([key, value]) => {
    if (!Object.hasOwn(a, key)) return [[key, value] as const]
    return containers.has(key) ? [[key, unitedTwo(a[key], value)] as const] : []
  })
  return Object.fromEntries([...Object.entries(a), ...more])
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function unitedLists(a: readonly unknown[], b: readonly unknown[]): readonly unknown[] {
  const ids = new Set(a.map(idOf))
  // Of equal ids the first one counts.
  const others = new Map(b.toReversed().map(each => [idOf(each), each] as const))
  const both = a.map(element => {
    const id = idOf(element)
    return others.has(id) ? unitedTwo(element, others.get(id)) : element
  })
  return [...both, ...b.filter(element => !ids.has(idOf(element)))]
}

/** What an element of discovery is about. */
function idOf(element: unknown): unknown {
  if (!isMembers(element)) return element
  const { metadata, name, resource, version } = element
  return (isMembers(metadata) ? metadata.name : undefined) ?? name ?? resource ?? version
}
