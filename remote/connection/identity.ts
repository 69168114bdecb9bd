import type { RequestContext } from '../../framework/contract/context.ts'
import { type HeaderMap, identityValue } from '../../framework/net/headers.ts'
import { loopback, type UserInfo } from '../../framework/request/user.ts'

/** Percent-encodes characters that a header name must not contain (client-go `transport/round_trippers.go`, headerKeyEscape). */
const escaped = (key: string): string =>
  key.replace(/[^A-Za-z0-9!#$&'*+.^_`|~-]/gu, character =>
    [...Buffer.from(character)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )

/** Impersonation headers for a user. */
function impersonationFields({ name, uid, groups, extra = {} }: UserInfo): HeaderMap {
  const extras = Object.entries(extra).filter(([, values]) => values.length > 0)
  return {
    'impersonate-user': identityValue(name),
    ...(uid ? { 'impersonate-uid': identityValue(uid) } : {}),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups.map(identityValue) }),
    ...Object.fromEntries(
      extras.map(([key, values]) => [`impersonate-extra-${escaped(key)}`, values.map(identityValue)]),
    ),
  }
}

/** Impersonation headers of the user, and the number of hops. Requests of the server itself are not impersonated. */
export function identityFields({ actAs, hops }: Pick<RequestContext, 'actAs' | 'hops'>): HeaderMap {
  return {
    ...(actAs === loopback ? {} : impersonationFields(actAs)),
    ...(hops > 0 ? { 'x-kcp-virtual-resource-hops': String(hops) } : {}),
  }
}
