import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { thisCheckout, withOriel } from '../outside/server.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { costOf, pairedRow, requests } from './costs.ts'

const rounds = Number(process.env.TRACING_ROUNDS ?? 7)
const milliseconds = 2_000

/** The servers: without the flag, and with it at a sampling rate for each million of requests. */
const rates = { none: 0, hundredth: 10_000, all: 1_000_000 } as const
type Name = 'off' | keyof typeof rates

const words: Readonly<Record<keyof typeof rates, string>> = {
  none: 'tracing configured, no request sampled',
  hundredth: 'one of 100 requests traced',
  all: 'each request traced',
}

/** A receiver of OTLP/HTTP that reads everything and keeps nothing. */
async function withReceiver<T>(work: (endpoint: string) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function configuration(directory: string, endpoint: string, rate: number): Promise<readonly string[]> {
  const file = join(directory, `tracing-${rate}.yaml`)
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' }
  await writeFile(file, JSON.stringify({ ...kind, endpoint, samplingRatePerMillion: rate }))
  return ['--tracing-config-file', file]
}

async function compare(
  sides: Readonly<Record<Name, Side>>,
  say: (text: string) => void,
): Promise<readonly Row[]> {
  const names = Object.keys(sides) as Name[]
  const rows: Row[] = []
  for (const kind of Object.keys(requests) as (keyof typeof requests)[]) {
    const costs = new Map<Name, number[]>(names.map(name => [name, []]))
    for (const name of names) await costOf(sides[name], { kind, milliseconds })
    for (let round = 0; round < rounds; round++) {
      say(`${kind}: round ${round + 1} of ${rounds}`)
      for (const name of round % 2 === 0 ? names : names.toReversed())
        costs.get(name)?.push(await costOf(sides[name], { kind, milliseconds }))
    }
    for (const name of Object.keys(rates) as (keyof typeof rates)[]) {
      const row = {
        id: `tracing-${name}-${kind.toLowerCase()}`,
        unit: 'ms',
        measure: `${kind}: processor time of one, ${words[name]}`,
      }
      rows.push(
        pairedRow(row, 'without tracing', { changed: costs.get(name) ?? [], base: costs.get('off') ?? [] }),
      )
    }
  }
  return rows
}

/** The processor time of requests with and without tracing: whole servers over TLS, in turn. */
export const tracing: Benchmark = ({ progress }) =>
  withScratch(({ directory }) =>
    withReceiver(async endpoint => {
      const at = async <T>(rate: number, work: (side: Side) => Promise<T>): Promise<T> =>
        withOriel(thisCheckout, directory, work, await configuration(directory, endpoint, rate))
      return withOriel(thisCheckout, directory, off =>
        at(rates.none, none =>
          at(rates.hundredth, hundredth =>
            at(rates.all, all => compare({ off, none, hundredth, all }, progress)),
          ),
        ),
      )
    }),
  )
