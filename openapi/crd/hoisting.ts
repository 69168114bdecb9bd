import { isDeepStrictEqual } from 'node:util'
import { type Fields, isObject, memberOf } from '../../framework/formats/values.ts'

const parts = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields']

export interface Hoisted {
  /** The parts that all versions have alike. */
  readonly common: Fields
  /** The versions without them. */
  readonly own: readonly unknown[]
}

/** Upstream keeps what all versions have alike once, in the spec itself, and tells what is wrong with it there. */
export function hoisted(versions: readonly unknown[]): Hoisted {
  const [first] = versions
  const alike = parts.filter(part =>
    versions.every(version => isDeepStrictEqual(memberOf(version, part), memberOf(first, part))),
  )
  return {
    common: isObject(first) ? only(first, part => alike.includes(part)) : {},
    own: versions.map(version =>
      isObject(version) ? only(version, part => !alike.includes(part)) : version,
    ),
  }
}

const only = (fields: Fields, isWanted: (name: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isWanted(name)))
