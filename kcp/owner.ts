import type { UserInfo } from '../framework/request/user.ts'
import type { WorkspaceCreator } from './core.ts'

/** A user as Kubernetes writes a UserInfo: empty members omitted. */
export const ownerOf = ({ name, uid, groups, extra }: UserInfo): WorkspaceCreator => ({
  username: name,
  ...(uid ? { uid } : {}),
  ...(groups.length === 0 ? {} : { groups }),
  ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
})

/** The user that a workspace names as its creator. */
export const creatorOf = ({
  username: name,
  uid,
  groups = [],
  extra = {},
}: WorkspaceCreator): UserInfo & { readonly extra: NonNullable<UserInfo['extra']> } => ({
  name,
  groups,
  extra,
  ...(uid === undefined ? {} : { uid }),
})

/** The owner that an annotation names; undefined when it is missing or not readable. */
export function readOwner(annotation: string | undefined): WorkspaceCreator | undefined {
  if (annotation === undefined) return undefined
  try {
    const owner: unknown = JSON.parse(annotation)
    const named = owner !== null && typeof owner === 'object' && 'username' in owner
    return named && typeof owner.username === 'string' ? (owner as WorkspaceCreator) : undefined
  } catch {
    return undefined
  }
}
