import { type Status, StatusError } from '../meta/errors.ts'
import type { ObjectKey } from '../meta/object.ts'
import type { CheckedNames } from './names.ts'

/** Pairs of a stored name and the name in the view. */
type Pairs = readonly (readonly [stored: string, shown: string])[]

/**
 * An error of the storage with the names of the view: in the message, where they are quoted, in the details and in the causes.
 * Other errors are returned unchanged.
 */
export function renamedError(
  error: unknown,
  names: CheckedNames,
  namespaces: CheckedNames,
  key: ObjectKey,
): unknown {
  if (!(error instanceof StatusError)) return error
  const name = key.name === '' ? generated(error, names) : pairOf(names, key.name)
  const all: Pairs = [...name, ...pairOf(namespaces, key.namespace)]
  const pairs = all.filter(([stored, shown]) => stored !== shown)
  if (pairs.length === 0) return error
  const { message = '', details, code, reason = '' } = error.status
  const renamed = new StatusError(
    code,
    reason,
    rewritten(message, pairs),
    details && detailsOf(details, pairs),
  )
  return Object.assign(renamed, {
    status: { ...error.status, ...renamed.status, metadata: error.status.metadata },
  })
}

const pairOf = (names: CheckedNames, shown: string): Pairs => {
  const stored = shown === '' ? undefined : names.stored(shown)
  return stored === undefined ? [] : [[stored, shown]]
}

/** The name in the details, which the server may have generated. */
function generated({ status }: StatusError, names: CheckedNames): Pairs {
  const { name = '' } = status.details ?? {}
  const shown = name === '' ? undefined : names.shown(name)
  return shown === undefined ? [] : [[name, shown]]
}

const rewritten = (text: string, pairs: Pairs): string =>
  pairs.reduce((now, [stored, shown]) => now.replaceAll(`"${stored}"`, `"${shown}"`), text)

function detailsOf(details: NonNullable<Status['details']>, pairs: Pairs): NonNullable<Status['details']> {
  const { name, causes } = details
  const shown = pairs.find(([stored]) => stored === name)?.[1] ?? name
  const seen = causes?.map(cause => ({ ...cause, message: rewritten(cause.message, pairs) }))
  return { ...details, ...(shown !== undefined && { name: shown }), ...(seen && { causes: seen }) }
}
