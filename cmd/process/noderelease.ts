/** The oldest Node that runs Oriel: the one of `engines` in package.json. */
export const oldestNode = '20.19'

/** What there is to say about a release of Node that is too old; undefined for others. */
export const refusalOf = (release: string): string | undefined =>
  release.localeCompare(oldestNode, 'en', { numeric: true }) < 0
    ? `oriel: Node.js ${oldestNode} or newer is needed, and this is ${release}.`
    : undefined
