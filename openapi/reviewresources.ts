import type { ApiResource } from '../framework/contract/apis.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import { groupResource } from '../framework/meta/object.ts'
import { reviewKinds } from './definitions/kubernetes/index.ts'
import { apiResourcesOf } from './resource.ts'

/** Review kinds that somebody answers, by `<plural>.<group>`: they are created, and nothing else. */
export const reviewResourcesOf = (
  storages: Readonly<Record<string, ResourceStorage>>,
): readonly ApiResource[] =>
  reviewKinds.flatMap(kind => {
    const storage = storages[groupResource(kind.group, kind.names.plural)]
    if (storage === undefined) return []
    return apiResourcesOf(kind, { storage: () => storage, custom: false, verbs: ['create'] })
  })
