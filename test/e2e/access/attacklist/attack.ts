import type { KeyPair } from '../../../../cmd/certificates/certificates.ts'
import type { Tenant } from '../../../support/tenants.ts'
import type { WireRequest } from '../../../support/wire.ts'

/** The attacker's workspace and credentials, and the workspace under attack. */
export interface Scene {
  readonly home: Tenant
  readonly other: Tenant
  /** Of a user who administers `home` only. */
  readonly token: string
  /** Of a service account of `home`, and of one of `other` with the same permissions there. */
  readonly robot: string
  readonly foreignRobot: string
  /** The URL of a workspace; for a process that serves views only, that of the view of its own export. */
  at(tenant: Tenant): string
  /** The attacker's certificate, and some invalid ones. */
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
  /** The accepted status codes. */
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
