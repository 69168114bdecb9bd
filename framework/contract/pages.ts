import type { Answer } from '../request/response.ts'

/** Documents of the server that are read below every logical cluster, by path. Who may is decided as for every path. */
export type Pages = ReadonlyMap<string, () => Promise<Answer>>
