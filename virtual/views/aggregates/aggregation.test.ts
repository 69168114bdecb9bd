import assert from 'node:assert/strict'
import { type Item, type ItemEvent, itemOf, type ResourceStorage } from '../../../framework/index.ts'
import { eventually } from '../../../test/support/oriel.ts'
import { Aggregation, type AggregationOptions } from './aggregation.ts'
import type { AggregatePlan } from './types.ts'

const planOf = (name: string): AggregatePlan =>
  ({
    name,
    by: [],
    values: { sum: [], min: [], max: [] },
    of: {
      field: `spec.aggregate[${name}]`,
      source: { group: '', version: 'v1', names: { plural: 'configmaps' } },
    },
  }) as unknown as AggregatePlan

const end: Item = itemOf(
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
  '',
)

describe('the aggregates of a View', () => {
  const stop = new AbortController()
  after(() => stop.abort())
  const { signal } = stop

  /** Watches that are complete at once, and fail while `isBroken`. */
  const storageOf = (isBroken: () => boolean): ResourceStorage =>
    ({
      async *watch(): AsyncGenerator<ItemEvent[]> {
        if (isBroken()) throw new Error('the source is gone')
        yield [{ type: 'BOOKMARK', item: end }]
        await new Promise(resolve => signal.addEventListener('abort', resolve))
      },
    }) as unknown as ResourceStorage

  const aggregationOf = (...storages: readonly ResourceStorage[]): Aggregation =>
    new Aggregation({
      host: { log: { info: () => undefined, warn: () => undefined, error: () => undefined } },
      owner: 'root',
      plans: storages.map((storage, i) => ({ plan: planOf(String(i)), storage })),
      failures: { refused: () => undefined },
      factsOf: () => ({ name: '', path: '' }),
      signal,
    } as unknown as AggregationOptions)

  const refusal = { code: 503, message: /the aggregate cannot be computed: the source is gone/ }

  it('are refused from the first read on while one entry cannot be counted, whatever the others do', async () => {
    const aggregation = aggregationOf(
      storageOf(() => true),
      storageOf(() => false),
    )
    for (let read = 0; read < 3; read++) await assert.rejects(aggregation.ready(signal), refusal)
  })

  it('are served when it can be counted again', async () => {
    let isBroken = true
    const aggregation = aggregationOf(storageOf(() => isBroken))
    await assert.rejects(aggregation.ready(signal), refusal)
    isBroken = false
    const isReady = () =>
      aggregation.ready(signal).then(
        () => true,
        () => false,
      )
    assert.ok(await eventually(isReady, ready => ready))
  })
})
