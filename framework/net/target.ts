import { badRequest } from '../meta/errors.ts'
import { decodeSegment } from '../request/segments.ts'

/**
 * Checks a path that is passed on byte for byte: what the next server could read as another path than the one that was
 * authorized here is refused (chapter 30, section 3.7). Throws 400.
 */
export function checkPath(path: string): string {
  const segments = path.replace(/^\//, '').replace(/\/$/, '')
  if (segments !== '' && !segments.split('/').every(raw => decodeSegment(raw) !== undefined))
    throw badRequest('the path has empty, encoded or relative segments and cannot be passed on')
  return path
}

const streams = /[?&](watch|follow)=(1|t|true)(&|$)|\/watch\/|\/(exec|attach|portforward|proxy)(\/|\?|$)/i

/** May the answer be silent for as long as it likes? */
export const isStream = (target: string): boolean => streams.test(target)
