/** The storage segments of resources that are not bound. */
export const builtinSegment = '-'
export const customSegment = 'customresources'

/** Whether a segment is the identity of an export, with objects of bound resources. */
export const isIdentity = (segment: string): boolean =>
  segment !== builtinSegment && segment !== customSegment
