import type { Answer } from '../request/response.ts'

/** Documents of the server below every logical cluster, by path; authorized as other non-resource paths. */
export type Pages = ReadonlyMap<string, () => Promise<Answer>>
