import { type Api, ApiError } from './api.ts'

/** Who the server takes the user for. */
export interface ShownUser {
  readonly username: string
  readonly groups: readonly string[]
}

interface Review {
  readonly status?: {
    readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] }
  }
}

const path = '/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews'
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }

/** Rejects with an `ApiError`: 401 for credentials that the server does not accept, and for none. */
export async function identityOf(api: Api): Promise<ShownUser> {
  const { status } = await api.json<Review>(path, { body: review })
  const { username = '', groups = [] } = status?.userInfo ?? {}
  if (username === '' || username === 'system:anonymous')
    throw new ApiError(401, 'The browser sent no client certificate.')
  return { username, groups }
}
