import { listParts } from '../proxy/queries/list.ts'
import type { ShardPart } from '../proxy/queries/part.ts'
import { TwoShards } from '../proxy/queries/testing/twoshards.ts'
import { configMap } from '../virtual/query/testing/scene.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { alternate } from './tools/statistics.ts'

// A smaller number is for a short run: QUERIES_OBJECTS=1000.
const objects = Number(process.env.QUERIES_OBJECTS ?? 10_000)
const rounds = 5

const text = 'x'.repeat(900)
const many = (shard: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    configMap(`${shard}-${i}`, { text, size: String((i * 7_919) % 10_007) }),
  )

/** `?where=…&orderBy=…` */
const search = (parameters: Readonly<Record<string, string>>): string => `?${new URLSearchParams(parameters)}`
const asked = {
  all: ['a list of all', search({})],
  few: ['a list of one of 100', search({ where: "object.data['size'].endsWith('77')" })],
  ordered: ['an ordered list', search({ orderBy: "object.data['size']" })],
} as const

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** Seconds of one merged list. */
async function merged(shards: TwoShards, search: string, accept?: string): Promise<number> {
  const begin = performance.now()
  const parts = shards.parts('/api/v1/configmaps', search, accept)
  let bytes = 0
  for await (const chunk of listParts(parts, new URLSearchParams(search))) bytes += chunk.length
  if (bytes === 0) throw new Error('the merged list is empty')
  return (performance.now() - begin) / 1_000
}

/** Seconds of the lists of the shards, at once and not merged. */
async function beside(shards: TwoShards, search: string, accept?: string): Promise<number> {
  const begin = performance.now()
  const read = async (part: ShardPart): Promise<void> => {
    for await (const _ of (await part.ask({})).body);
  }
  await Promise.all(shards.parts('/api/v1/configmaps', search, accept).map(read))
  return (performance.now() - begin) / 1_000
}

async function rowOf(
  shards: TwoShards,
  [id, measure, search, accept]: readonly [string, string, string, string?],
): Promise<Row> {
  const taken = await alternate(rounds, {
    merged: () => merged(shards, search, accept),
    beside: () => beside(shards, search, accept),
  })
  return {
    id: `queries-${id}`,
    measure: `${measure} of ${objects.toLocaleString('en')} objects of 1 KiB on two shards`,
    value: taken.merged * 1_000,
    unit: 'ms',
    against: { what: 'the lists of both, not merged', value: taken.beside * 1_000 },
  }
}

/** What the front proxy adds to queries over all shards. Everything runs in one process. */
export const queries: Benchmark = async ({ progress }) => {
  const shards = await TwoShards.start()
  try {
    progress(`${objects} objects`)
    await shards.alpha.cluster('one', ...many('alpha', objects / 2))
    await shards.beta.cluster('two', ...many('beta', objects / 2))
    const rows: Row[] = []
    for (const [id, [measure, search]] of Object.entries(asked)) {
      progress(measure)
      rows.push(await rowOf(shards, [id, measure, search]))
    }
    rows.push(await rowOf(shards, ['table', 'a Table', asked.all[1], table]))
    return rows
  } finally {
    await shards.close()
  }
}
