/** Values in one request. */
const page = 500

/** Values of a range, and where the next ones start; undefined after the last. */
interface Page<K, V> {
  readonly values: readonly V[]
  readonly next: K | undefined
}

/** Reads a range of at most `limit` values by requests of at most 500. */
export async function* pagesOf<K, V>(
  from: K,
  { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number | undefined },
  read: (from: K, limit: number) => Promise<Page<K, V>>,
): AsyncGenerator<readonly V[]> {
  let missing = limit
  for (let start: K | undefined = from; start !== undefined && missing > 0; ) {
    const { values, next }: Page<K, V> = await read(start, Math.min(page, missing))
    missing -= values.length
    start = next
    if (values.length > 0) yield values
  }
}
