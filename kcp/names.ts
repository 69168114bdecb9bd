import { createHash, randomBytes } from 'node:crypto'
import { isClusterPath } from '../framework/request/path.ts'
import { base62Hash } from './labels.ts'

/**
 * Names that kcp derives by hashing; `names.test.ts` has vectors of kcp. The labels of claims and exports are in
 * `kcp/labels.ts`.
 */

/** SHA-224 of the UTF-8 bytes of `text` (or of bytes as they are). */
export const hash224 = (text: string | Uint8Array): Buffer => createHash('sha224').update(text).digest()

/** The bytes as one big-endian unsigned number in base 36, without padding. */
export const base36 = (bytes: Uint8Array): string =>
  BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`).toString(36)

/** Base 36 with one literal `0` in front for every leading zero byte. */
export function paddedBase36(bytes: Uint8Array): string {
  const first = bytes.findIndex(byte => byte !== 0)
  return '0'.repeat(first === -1 ? bytes.length : first) + base36(bytes)
}

/**
 * The name of a new logical cluster: 16 characters of `0-9a-z`, from 32 random bytes (kcp
 * `workspace_reconcile_scheduling.go`, `randomClusterName`).
 */
export const workspaceClusterName = (): string => paddedBase36(hash224(randomBytes(32))).slice(0, 16)

/** The logical cluster of a user's home workspace. */
export const homeClusterName = (user: string): string => paddedBase36(hash224(user).subarray(0, 8))

/**
 * `user:alice[:team]` starts at the user's home workspace; other paths are not changed (kcp
 * `pkg/server/home_workspaces.go`).
 */
export function resolveHome(path: string): string {
  if (!path.startsWith('user:')) return path
  const [, user, ...rest] = path.split(':')
  return user ? [homeClusterName(user), ...rest].join(':') : path
}

/**
 * The path of a user's home workspace, such as `user:alice`. `user:alice:team` is a workspace in the home of alice: a user with this
 * name has the name of the logical cluster as the path, and so have those whose names no path has. kcp gives them the paths of others.
 */
export const homePath = (user: string): string =>
  isClusterPath(user) && !user.includes(':') ? `user:${user}` : homeClusterName(user)

/** The value of the deprecated annotation `internal.tenancy.kcp.io/shard`. */
export const shardHash = (shard: string): string => paddedBase36(hash224(shard)).slice(0, 8)

/** The name of the binding of a default export in `cluster` (kcp `initialization.generateAPIBindingName`). */
export function defaultBindingName(cluster: string, exportPath: string, exportName: string): string {
  const suffix = base62Hash(`${cluster}|${exportPath}|${exportName}`).slice(0, 5).toLowerCase()
  return `${exportName.slice(0, 247)}-${suffix}`
}

/** An identity hash: lower-case hex SHA-256 of the identity secret's text, not decoded. */
export const identityHash = (key: string | Uint8Array): string =>
  createHash('sha256').update(key).digest('hex')

/** A new identity key: 43 characters, the URL-safe base64 of 32 random bytes. */
export const newIdentityKey = (): string => randomBytes(32).toString('base64url')
