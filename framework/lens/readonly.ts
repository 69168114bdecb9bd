import type { ResourceStorage } from '../contract/storage.ts'
import { methodNotSupported } from '../meta/errors.ts'
import type { GroupVersionResource } from '../meta/object.ts'
import type { Params } from '../request/path.ts'

/** A storage that is read, and nothing else: whoever writes, although no endpoint offers it, is answered 405. */
export function readOnly<P extends Params>(
  about: Pick<GroupVersionResource, 'group' | 'resource'>,
  reads: Pick<ResourceStorage<P>, 'get' | 'list' | 'watch'>,
): ResourceStorage<P> {
  const refuse = (verb: string) => async (): Promise<never> => {
    throw methodNotSupported(about, verb)
  }
  return { ...reads, create: refuse('create'), update: refuse('update'), delete: refuse('delete') }
}
