import { isMembers } from '../json/json.ts'
import type { UserInfo } from '../request/user.ts'

/**
 * A user as the value of a warrant (kcp `pkg/authorization`, `Warrant`): an additional identity, whose rights are added
 * to those of the user.
 */
export const printWarrant = ({ name, groups, uid, extra }: UserInfo): string =>
  JSON.stringify({
    ...(name === '' ? {} : { user: name }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra ?? {}).length === 0 ? {} : { extra }),
    ...(uid ? { uid } : {}),
  })

/** undefined if a field is invalid, as in kcp. */
export function parseWarrant(value: string): UserInfo | undefined {
  const warrant = jsonIn(value)
  if (!isMembers(warrant)) return undefined
  const { user: name = '', uid = '', groups, extra } = warrant
  const known = groups ?? []
  const more = extra ?? {}
  if (typeof name !== 'string' || typeof uid !== 'string' || !isTexts(known) || !isExtra(more))
    return undefined
  return { name, uid, groups: known, extra: more }
}

function jsonIn(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(entry => typeof entry === 'string')
const isExtra = (value: unknown): value is NonNullable<UserInfo['extra']> =>
  isMembers(value) && Object.values(value).every(isTexts)
