import { createHash } from 'node:crypto'
import type { Selection } from '../../framework/contract/storage.ts'
import { invalidContinueToken } from '../../framework/meta/continuetoken.ts'
import { type StatusError, timeout } from '../../framework/meta/errors.ts'
import type { StoredResource } from './codec.ts'

/** The position of the next page of a list. */
export interface Continuation {
  /** The revision of all pages; -1: the current one (rules.md 4.22). */
  readonly revision: number
  /** The id of the last item that was returned or skipped. */
  readonly after: string
}

interface Token {
  readonly v: string
  readonly rv: number
  readonly start: string
  /** The scope of the list: a token is valid for the same scope only. */
  readonly of: string
}

const version = 'meta.k8s.io/v1'

/** A fingerprint of resource, cluster and namespace. */
function scopeOf({ group, resource, segment }: StoredResource, { cluster, namespace }: Selection): string {
  const scope = JSON.stringify([group, resource, segment, cluster, namespace ?? ''])
  return createHash('sha256').update(scope).digest('base64url').slice(0, 16)
}

export function encodeContinuation(
  { revision, after }: Continuation,
  resource: StoredResource,
  selection: Selection,
): string {
  const token: Token = { v: version, rv: revision, start: `${after}\0`, of: scopeOf(resource, selection) }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/** Reads a token; throws 400 `invalid continue token: …` (rules.md 4.18). */
export function decodeContinuation(
  text: string,
  resource: StoredResource,
  selection: Selection,
): Continuation {
  const { v, rv, start, of } = parse(text)
  if (v !== version) throw invalidContinueToken(`server does not recognize this encoded version ${v}`)
  if (rv === 0) throw invalidContinueToken(`incorrect encoded start resourceVersion (version ${version})`)
  if (start === '') throw invalidContinueToken(`encoded start key empty (version ${version})`)
  if (of !== scopeOf(resource, selection)) throw invalidContinueToken('it belongs to another list')
  return { revision: rv, after: start.slice(0, -1) }
}

/** The revision of a token's list; undefined for the current one, and for texts that are no token of a shard. */
export function revisionIn(text: string): number | undefined {
  try {
    const { rv } = parse(text)
    return rv > 0 ? rv : undefined
  } catch {
    return undefined
  }
}

function parse(text: string): Token {
  let token: Partial<Token> | null
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    throw invalidContinueToken('it cannot be decoded')
  }
  const { v, rv = 0, start = '', of = '' } = token ?? {}
  if (!Number.isSafeInteger(rv) || rv < -1 || typeof start !== 'string' || typeof of !== 'string')
    throw invalidContinueToken('it cannot be decoded')
  return { v: String(v ?? ''), rv, start, of }
}

/** 504 for a resourceVersion that is newer than the cache; clients check the cause (rules.md 4.8). */
export const versionTooLarge = (asked: number, current: number): StatusError =>
  timeout(`Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
