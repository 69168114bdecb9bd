import type { RequestContext } from '../../framework/contract/context.ts'
import type { HeaderMap } from '../../framework/net/headers.ts'
import { loopback, type UserInfo } from '../../framework/request/user.ts'

/** Bytes of UTF-8, one character each: how HTTP carries them. */
const onWire = (text: string): string => Buffer.from(text).toString('latin1')

/** What is no character of a header's name is written as its bytes (chapter 10, section 1.16). */
const escaped = (key: string): string =>
  key.replace(/[^A-Za-z0-9!#$&'*+.^_`|~-]/gu, character =>
    [...Buffer.from(character)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )

/** A user as the shard is told to act for. */
function impersonationFields({ name, uid, groups, extra = {} }: UserInfo): HeaderMap {
  const extras = Object.entries(extra).filter(([, values]) => values.length > 0)
  return {
    'impersonate-user': onWire(name),
    ...(uid ? { 'impersonate-uid': onWire(uid) } : {}),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups.map(onWire) }),
    ...Object.fromEntries(
      extras.map(([key, values]) => [`impersonate-extra-${escaped(key)}`, values.map(onWire)]),
    ),
  }
}

/** Whose rights apply on the shard, and how often the request has been passed on. The server's own requests are its own. */
export function identityFields({ actAs, hops }: Pick<RequestContext, 'actAs' | 'hops'>): HeaderMap {
  return {
    ...(actAs === loopback ? {} : impersonationFields(actAs)),
    ...(hops > 0 ? { 'x-kcp-virtual-resource-hops': String(hops) } : {}),
  }
}
