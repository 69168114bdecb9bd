import type { KeyPair } from '../../../../cmd/certificates/certificates.ts'
import type { Tenant } from '../../../support/tenants.ts'
import type { WireRequest } from '../../../support/wire.ts'

/** What an attacker has: a workspace, and another one that he wants to get into. */
export interface Scene {
  readonly home: Tenant
  readonly other: Tenant
  /** Of a user who administrates his own workspace and nothing else. */
  readonly token: string
  /** Of a service account of `home`, and of one of `other` with the same rights there. */
  readonly robot: string
  readonly foreignRobot: string
  /** Where a workspace is: itself, or, for a process that serves views only, what its own export shows of it. */
  at(tenant: Tenant): string
  /** The attacker's certificate, and some that are not good. */
  readonly certificate: KeyPair
  readonly badCertificates: Readonly<Record<string, KeyPair>>
}

/** One attack: a request that has to be refused. */
export interface Attack {
  /** Its number there. */
  readonly number: number
  readonly what: string
  readonly path: string
  readonly request: WireRequest
  /** What it may be answered with. */
  readonly codes: readonly number[]
}

export const secrets = '/api/v1/namespaces/default/secrets'
export type Headers = NonNullable<WireRequest['headers']>
export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })
export const refused = [401, 403]

interface Refused {
  readonly codes?: readonly number[]
  readonly path?: string
}

export const attackOn =
  ({ other, at }: Scene, number: number) =>
  (what: string, request: WireRequest, more: Refused = {}): Attack => ({
    number,
    what,
    request,
    path: more.path ?? at(other) + secrets,
    codes: more.codes ?? refused,
  })
