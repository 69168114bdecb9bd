import type { ResourceStorage } from '../contract/storage.ts'
import { type About, methodNotSupported } from '../meta/errors.ts'

/** A storage that serves `create` only, such as that of reviews. Other verbs are 405. */
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
