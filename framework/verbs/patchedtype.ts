import { isMembers } from '../json/json.ts'
import type { ObjectKey } from '../meta/object.ts'
import { type Call, checkName } from './call.ts'
import { checkType, readApiVersion } from './typemeta.ts'

/**
 * A patch may make another type of an object, of which nobody says that it is not expected: it is read as what it is.
 * Throws a `DecodeError`, 400 or 422.
 */
export function checkPatchedType({ served }: Call, result: unknown, key: ObjectKey): void {
  if (!isMembers(result)) return
  const apiVersion = readApiVersion(result)
  const { kind } = result
  // Upstream reads nothing into a built-in kind whose version is not said.
  if (apiVersion === '' && !served.resource.custom)
    checkName({ apiVersion, kind: served.kind, metadata: {} }, key)
  if (apiVersion === '' || typeof kind !== 'string' || kind === '') return
  checkType({ apiVersion, kind }, served, result)
}
