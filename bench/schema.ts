import { foreignCrd } from '../test/support/crds.ts'
import { Connection } from './tools/connection.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { withScratch } from './tools/scratch.ts'
import { percentile } from './tools/statistics.ts'

const count = 10

interface Definition {
  readonly metadata: { readonly annotations?: object }
  readonly spec: { readonly names: { readonly plural: string }; readonly versions: readonly object[] }
}

/** The same definition in another group, with a schema that differs from all others. */
function variant(definition: Definition, index: number): string {
  const group = `bench-${index}.example.com`
  const { plural } = definition.spec.names
  const text = JSON.stringify({
    ...definition,
    metadata: { name: `${plural}.${group}` },
    spec: { ...definition.spec, group },
  })
  return text.replaceAll('"description":"', `"description":"${index}: `)
}

const base = '/clusters/root/apis'

/** Creates a definition, and waits until its objects can be listed; returns the milliseconds of the response. */
async function accept(connection: Connection, body: string, index: number): Promise<number> {
  const path = `${base}/apiextensions.k8s.io/v1/customresourcedefinitions`
  const begin = performance.now()
  const { status, body: answer } = await connection.read({ method: 'POST', path, body })
  const took = performance.now() - begin
  if (status !== 201) throw new Error(`the definition was refused: ${answer.toString()}`)
  const objects = `${base}/bench-${index}.example.com/v1/httproutes`
  while ((await connection.read({ path: objects })).status !== 200);
  return took
}

/** Time and memory of a large schema, the HTTPRoute of the Gateway API; nothing without FOREIGN_CRDS. */
export const schema: Benchmark = async ({ progress }) => {
  const definition = foreignCrd<Definition>('httproutes.gateway.networking.k8s.io')
  if (definition === undefined) return []
  return withScratch(async scratch => {
    const server = await scratch.oriel({ store: 'memory:' })
    const connection = await Connection.open(await server.ask('address'))
    await accept(connection, variant(definition, count), count)
    const before = await server.ask('memory')
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      progress(`${i + 1} of ${count}`)
      times.push(await accept(connection, variant(definition, i), i))
    }
    const after = await server.ask('memory')
    connection.close()
    const size = Buffer.byteLength(variant(definition, 0))
    return [
      {
        id: 'schema.accept',
        measure: `accept a schema of ${Math.round(size / 1000)} kB, p50`,
        value: percentile(times, 0.5),
        unit: 'ms',
        target: { atMost: 1000 },
      },
      {
        id: 'schema.memory',
        measure: 'a served schema, live memory',
        value: (after.live - before.live) / count / 2 ** 20,
        unit: 'MiB',
        against: { what: 'its JSON', value: size / 2 ** 20 },
      },
    ] satisfies Row[]
  })
}
