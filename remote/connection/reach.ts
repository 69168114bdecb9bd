import { expiryOf, whenPassed } from '../../framework/async/expiry.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { problemOf } from '../../framework/net/failure.ts'
import type { HeaderMap } from '../../framework/net/headers.ts'

/** The parts of a request that show which user's permissions apply. */
interface Requested {
  readonly target: string
  readonly headers?: HeaderMap
}

/** Whether a server is usable. Logs one line per change, not one per failed request. */
export interface Reach {
  isGood(): boolean
  /** Sets the client certificate (PEM) that the connection uses. */
  presents(certificate: string | undefined): void
  answered(code: number, request: Requested): void
  failed(error: unknown, request: Requested): void
}

const expired = 'the client certificate in the kubeconfig has expired: renew it'

const rejected = 'it rejects the credentials in the kubeconfig: renew the client certificate or token'

/** By this server itself. Webhooks of tenants decide how a shard answers requests of users: also with 401, or not at all. */
const isOwn = ({ headers = {} }: Requested): boolean => !('impersonate-user' in headers)

/** Requests for all logical clusters by this server itself. Every view needs them to be allowed. */
const isWildcard = (request: Requested): boolean =>
  request.target.startsWith('/clusters/*/') && isOwn(request)

const refused =
  'its user may not see the objects of all logical clusters: use a kubeconfig whose user is in the group system:masters'

/** Current problems. Each is set and cleared independently. */
interface Problems {
  /** Expiry of the client certificate, in milliseconds since the epoch. */
  expires: number
  connection: string | undefined
  credentials: string | undefined
  /** Paths over all logical clusters for which this server got 403. */
  readonly refused: Set<string>
}

function currentProblem({ expires, connection, credentials, refused: paths }: Problems): string | undefined {
  if (expires <= Date.now()) return expired
  return connection ?? credentials ?? (paths.size > 0 ? refused : undefined)
}

export function createReach(name: () => string, log: Logger): Reach {
  const problems: Problems = {
    expires: Number.POSITIVE_INFINITY,
    connection: undefined,
    credentials: undefined,
    refused: new Set(),
  }
  let logged: string | undefined
  const logChange = (): void => {
    const problem = currentProblem(problems)
    if (problem === logged) return
    logged = problem
    if (problem === undefined) log.warn({}, `the shard ${name()} can be used again`)
    else log.error({}, `the shard ${name()} cannot be used: ${problem}`)
  }
  return {
    isGood: () => currentProblem(problems) === undefined,
    presents(certificate) {
      problems.expires = certificate === undefined ? Number.POSITIVE_INFINITY : expiryOf(certificate)
      problems.credentials = undefined
      whenPassed(problems.expires, logChange)
      logChange()
    },
    answered(code, request) {
      problems.connection = undefined
      if (code !== 401) problems.credentials = undefined
      else if (isOwn(request)) problems.credentials = rejected
      const [path = ''] = request.target.split('?')
      if (isWildcard(request) && code === 403) problems.refused.add(path)
      if (isWildcard(request) && code < 300) problems.refused.delete(path)
      logChange()
    },
    failed(error, request) {
      if (error instanceof StatusError || !isOwn(request)) return
      const { reason, change } = problemOf(error, 'server in the kubeconfig')
      problems.connection = `${reason}: ${change}`
      logChange()
    },
  }
}
