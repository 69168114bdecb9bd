import { isClusterName, type PathPattern } from '../../framework/index.ts'

/** Where `/clusters/…` belongs that may be left out: behind `/services/apiresourceschema/<consumer>`. */
const short = /^((?:\/[^/]*){3})(?=\/(?!clusters\/)|$)/

/**
 * The view's URLs, with and without `/clusters/…`: behind it is `*` or the consumer once more, and the consumer is meant
 * (chapter 10, section 7).
 */
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
