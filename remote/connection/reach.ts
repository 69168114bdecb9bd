import { expiryOf, whenPassed } from '../../framework/async/expiry.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { problemOf } from '../../framework/net/failure.ts'
import type { HeaderMap } from '../../framework/net/headers.ts'

/** The part of a request that tells whose permissions it uses. */
interface Requested {
  readonly target: string
  readonly headers?: HeaderMap
}

/** Whether a server can be used at the moment, told to whoever runs this one: a line for each change, not for each failure. */
export interface Reach {
  isGood(): boolean
  /** From now on this client certificate is shown, PEM. */
  presents(certificate: string | undefined): void
  answered(code: number, request: Requested): void
  failed(error: unknown): void
}

const expired = 'the client certificate in the kubeconfig has expired: renew it'

const unknown = 'it does not know the credentials in the kubeconfig: renew the client certificate or token'

/** What every view needs: to see the objects of all logical clusters. Only this process's own requests tell. */
const isOverAll = ({ target, headers = {} }: Requested): boolean =>
  target.startsWith('/clusters/*/') && !('impersonate-user' in headers)

const refused =
  'its user may not see the objects of all logical clusters: use a kubeconfig whose user is in the group system:masters'

/** What may be wrong, each found out and mended by itself. */
interface Problems {
  /** When the client certificate ends, in milliseconds since the epoch. */
  expires: number
  connection: string | undefined
  credentials: string | undefined
  /** What this process may not see everywhere. */
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
  let told: string | undefined
  const tell = (): void => {
    const problem = currentProblem(problems)
    if (problem === told) return
    told = problem
    if (problem === undefined) log.warn({}, `the shard ${name()} can be used again`)
    else log.error({}, `the shard ${name()} cannot be used: ${problem}`)
  }
  return {
    isGood: () => currentProblem(problems) === undefined,
    presents(certificate) {
      problems.expires = certificate === undefined ? Number.POSITIVE_INFINITY : expiryOf(certificate)
      problems.credentials = undefined
      whenPassed(problems.expires, tell)
      tell()
    },
    answered(code, request) {
      problems.connection = undefined
      problems.credentials = code === 401 ? unknown : undefined
      const [path = ''] = request.target.split('?')
      if (isOverAll(request) && code === 403) problems.refused.add(path)
      if (isOverAll(request) && code < 300) problems.refused.delete(path)
      tell()
    },
    failed(error) {
      if (error instanceof StatusError) return
      const { reason, change } = problemOf(error, 'server in the kubeconfig')
      problems.connection = `${reason}: ${change}`
      tell()
    },
  }
}
