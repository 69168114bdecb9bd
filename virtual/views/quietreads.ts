import { attempt } from '../../framework/async/awaitable.ts'
import { type ResourceStorage, StatusError } from '../../framework/index.ts'

/** The reason of a failed read is not passed on: that of a conversion webhook may have values of hidden fields. */
export function quietReads(storage: ResourceStorage): ResourceStorage {
  return {
    ...storage,
    get: (ctx, key) => attempt(() => storage.get(ctx, key), fail),
    list: (ctx, query) => readQuietly(storage.list(ctx, query)),
    watch: (ctx, query) => readQuietly(storage.watch(ctx, query)),
  }
}

async function* readQuietly<T, R>(values: AsyncGenerator<T, R, undefined>): AsyncGenerator<T, R, undefined> {
  try {
    return yield* values
  } catch (error) {
    return fail(error)
  }
}

function fail(error: unknown): never {
  if (!(error instanceof StatusError) || error.code !== 500) throw error
  const why = 'the reason is not shown, because the View hides fields'
  throw new StatusError(500, error.reason, `the objects cannot be read: ${why}`)
}
