import assert from 'node:assert/strict'
import type { Action, Authorizer } from '../../contract/authorizer.ts'
import { StatusError } from '../../meta/errors.ts'
import type { RequestInfo } from '../../request/requestinfo.ts'
import type { UserInfo } from '../../request/user.ts'
import { impersonate } from '../impersonate.ts'
import { type RequestedIdentity, requestedIdentity } from '../requestedidentity.ts'

const signal = new AbortController().signal

export const alice: UserInfo = { name: 'alice', groups: ['devs', 'system:authenticated'] }

export const scopes = 'authentication.kcp.io/scopes'

/** Allows unconstrained impersonation except for `refused`, and records the requested permissions. */
export function policy(...refused: readonly string[]): Authorizer & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    authorize: async (_user, { verb, resource, cluster }: Action) => {
      if (verb !== 'impersonate') return { effect: 'no opinion', reason: 'access denied' }
      const {
        group = '',
        resource: plural = '',
        subresource = '',
        namespace = '',
        name = '',
      } = resource ?? {}
      const what = [group, plural, subresource, namespace, name].filter(part => part !== '').join('/')
      asked.push(`${verb} ${what} in ${cluster}`)
      const isRefused = refused.some(prefix => what.startsWith(prefix))
      return { effect: isRefused ? 'no opinion' : 'allow', reason: 'access denied' }
    },
  }
}

const headers = (...lines: readonly string[]) => ({
  headers: Object.fromEntries(
    lines.map((line, i) => [line.toLowerCase(), lines[i + 1] ?? '']).filter((_, i) => i % 2 === 0),
  ),
  rawHeaders: lines,
})

export const wanted = (...lines: readonly string[]): RequestedIdentity => requestedIdentity(headers(...lines))

const list: RequestInfo = {
  isResource: true,
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  path: '',
  subresource: '',
  namespace: 'ns',
  name: '',
}

export const becoming = (
  requestor: UserInfo,
  lines: readonly string[],
  authorizer: Authorizer,
  cluster = 'one',
) => impersonate({ requestor, requested: wanted(...lines), cluster, info: list, authorizer, signal })

export const be = async (
  requestor: UserInfo,
  lines: readonly string[],
  authorizer: Authorizer = policy(),
  cluster?: string,
) => (await becoming(requestor, lines, authorizer, cluster)).user

export const refused = (promise: Promise<unknown>, code: number, why: RegExp): Promise<void> =>
  assert.rejects(
    promise,
    error => error instanceof StatusError && error.code === code && why.test(error.message),
  )
