import { isClusterName, type PathPattern } from '../../framework/request/path.ts'

/** The end of `/services/apiresourceschema/<consumer>` where `/clusters/…` is missing. */
const short = /^((?:\/[^/]*){3})(?=\/(?!clusters\/)|$)/

/** The view's URLs, with and without `/clusters/<* or consumer>` (kcp `pkg/virtual/apiresourceschema/builder`). */
export const ofConsumer = (path: PathPattern): PathPattern => ({
  ...path,
  parse: url => {
    const isOurs = url.startsWith('/services/apiresourceschema/')
    const found = isOurs ? path.parse(url.replace(short, '$1/clusters/*')) : undefined
    const consumer = found?.params.consumer ?? ''
    if (found === undefined || !isClusterName(consumer)) return undefined
    return found.cluster === '*' || found.cluster === consumer ? { ...found, cluster: consumer } : undefined
  },
})
