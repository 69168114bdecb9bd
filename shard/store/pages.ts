/** Values in the first request, and in any other. */
const first = 500
const most = 2_500
/** Bytes of the values of a request, about: the next values are as large as the last ones, or not. */
const bytes = 8 * 1024 * 1024

/** Values of a range, and where the next ones start; undefined after the last. */
interface Page<K, V> {
  readonly values: readonly V[]
  readonly next: K | undefined
}

/** Reads a range of at most `limit` values by requests of at most 2,500, each while the values before are used. */
export async function* pagesOf<K, V extends { readonly value: Buffer }>(
  from: K,
  { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number | undefined },
  read: (from: K, limit: number) => Promise<Page<K, V>>,
): AsyncGenerator<readonly V[]> {
  let missing = limit
  let reading = missing > 0 ? read(from, Math.min(first, missing)) : undefined
  while (reading !== undefined) {
    const { values, next } = await reading
    missing -= values.length
    reading =
      next === undefined || missing <= 0 ? undefined : read(next, Math.min(sizeAfter(values), missing))
    // A reader that ends before does not await it.
    reading?.catch(() => undefined)
    if (values.length > 0) yield values
  }
}

/** How many values come next. etcd counts all values of a range in each request, so that many small ones take long. */
function sizeAfter(values: readonly { readonly value: Buffer }[]): number {
  const size = values.reduce((sum, { value }) => sum + value.length, 0)
  return Math.max(1, Math.min(most, Math.floor((bytes * values.length) / Math.max(1, size))))
}
