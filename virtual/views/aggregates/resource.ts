import { type ApiResource, resourceOf, storageOf } from '../../../framework/index.ts'
import { Aggregation, type AggregationOptions } from './aggregation.ts'
import { aggregateKind } from './kind.ts'

/** The resource `aggregates` of a View. Reads wait until all objects are counted. */
export function aggregatesOf(options: AggregationOptions): ApiResource {
  const aggregation = new Aggregation(options)
  const storage = storageOf(aggregation.map)
  return resourceOf(aggregateKind, {
    ...storage,
    async get(ctx, key) {
      await aggregation.ready(ctx.signal)
      return storage.get(ctx, key)
    },
    async *list(ctx, query) {
      await aggregation.ready(ctx.signal)
      return yield* storage.list(ctx, query)
    },
    async *watch(ctx, query) {
      await aggregation.ready(ctx.signal)
      yield* storage.watch(ctx, query)
    },
  })
}
