import type { JWK } from 'jose'
import { isObject, isTexts } from '../jwt.ts'

/** Keys of one issuer, which has fewer than twenty as a rule. All are compared with a token that names none. */
const mostKeys = 100

/**
 * Characters of each member of a key that is read: an RSA modulus of 8,192 bits, an exponent of 64 bits, as OpenSSL allows for a
 * long modulus, and coordinates of P-521.
 */
const longest = { kty: 16, crv: 16, alg: 32, use: 16, kid: 512, n: 1_366, e: 11, x: 88, y: 88 } as const

/** Key operations of RFC 7517, section 4.3. */
const operations: readonly string[] = [
  ...['sign', 'verify', 'encrypt', 'decrypt', 'wrapKey', 'unwrapKey', 'deriveKey', 'deriveBits'],
]

/** As many as there may be: two of them are not known. */
const mostOperations = 10

/** The keys that verify with the algorithms of Kubernetes. */
const types: readonly unknown[] = ['RSA', 'EC']

/**
 * The public keys of a JSON web key set (RFC 7517), with the members that verification reads and no others. Keys of other types,
 * private ones and those with too long members are ignored. Throws an `Error` for another document and for more than 100 keys.
 */
export function publicKeysIn(document: unknown): readonly JWK[] {
  const keys = isObject(document) ? document.keys : undefined
  if (!Array.isArray(keys)) throw new Error('JSON Web Key Set malformed: it has no list of keys')
  if (keys.length > mostKeys)
    throw new Error(`JSON Web Key Set has ${keys.length} keys, at most ${mostKeys} are allowed`)
  return keys.flatMap(publicKeyOf)
}

function publicKeyOf(key: unknown): readonly JWK[] {
  if (!isObject(key) || !types.includes(key.kty) || key.d !== undefined) return []
  const members = Object.entries(longest).filter(([name]) => key[name] !== undefined)
  if (members.some(([name, most]) => !isShort(key[name], most))) return []
  const copied = Object.fromEntries(members.map(([name]) => [name, key[name]])) as unknown as JWK
  const { key_ops: used } = key
  if (used === undefined) return [copied]
  if (!isTexts(used) || used.length > mostOperations) return []
  return [{ ...copied, key_ops: used.filter(operation => operations.includes(operation)) }]
}

const isShort = (value: unknown, most: number): boolean => typeof value === 'string' && value.length <= most

/** Characters of the members of keys, which is about as many bytes. */
export const lengthOfKeys = (keys: readonly JWK[]): number =>
  keys.reduce((sum, key) => sum + JSON.stringify(key).length, 0)
