import type { ResourceStorage } from '../contract/storage.ts'
import { type About, methodNotSupported } from '../meta/errors.ts'

/** A storage of which only `create` does something, such as that of reviews. What else is asked of it is 405. */
export function createOnly(about: About, create: ResourceStorage['create']): ResourceStorage {
  const refuse = (verb: string): never => {
    throw methodNotSupported(about, verb)
  }
  return {
    create,
    get: async () => refuse('get'),
    list: () => refuse('list'),
    watch: () => refuse('watch'),
    update: async () => refuse('update'),
    delete: async () => refuse('delete'),
  }
}
