import type { ResourceStorage } from '../contract/storage.ts'
import { methodNotSupported } from '../meta/errors.ts'
import type { GroupVersionResource } from '../meta/object.ts'
import type { Params } from '../request/path.ts'

/** A read-only storage: writes return 405, also if no endpoint offers them. */
export function readOnly<P extends Params>(
  about: Pick<GroupVersionResource, 'group' | 'resource'>,
  reads: Pick<ResourceStorage<P>, 'get' | 'list' | 'watch'>,
): ResourceStorage<P> {
  const refuse = (verb: string) => async (): Promise<never> => {
    throw methodNotSupported(about, verb)
  }
  return { ...reads, create: refuse('create'), update: refuse('update'), delete: refuse('delete') }
}
