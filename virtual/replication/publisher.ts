import type { UrlPublisher } from '../../framework/index.ts'
import { consumedExport, withEndpoints } from '../shared/exports/endpoints.ts'
import { apiBindings, apiExports } from '../shared/exports/exports.ts'
import { clusterOf } from '../shared/exports/types.ts'
import { cachedResourceSlices, type Slices } from './slices.ts'
import type { CachedResourceSlice, SliceParams } from './types.ts'

/** Publishes the view's URL in every slice that is valid and whose export has a consumer (chapter 10, section 9). */
export const slicePublisher = ({ exports }: Slices): UrlPublisher<SliceParams> => ({
  objects: cachedResourceSlices,
  dependsOn: [apiBindings, apiExports],
  views: object => {
    const found = consumedExport(exports, object as CachedResourceSlice)
    if (found === undefined) return undefined
    return found.isConsumed ? [{ provider: clusterOf(object), slice: object.metadata.name ?? '' }] : []
  },
  publish: withEndpoints,
})
