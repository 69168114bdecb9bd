import { expiryOf, whenPassed } from '../../framework/async/expiry.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { failureOf } from '../../framework/net/failure.ts'
import type { ShardRequest } from './request.ts'

/** Whether a server can be used at the moment, told to whoever runs this one: a line for each change, not for each failure. */
export interface Reach {
  isGood(): boolean
  /** From now on this client certificate is shown, PEM. */
  presents(certificate: string | undefined): void
  answered(code: number, request: ShardRequest): void
  failed(error: unknown): void
}

const expired = 'the client certificate in the kubeconfig has expired: renew it'

const forAll = (codes: readonly string[], text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(codes.map(code => [code, text]))

const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start it, or correct the server in the kubeconfig',
  ENOTFOUND: 'there is no such host: correct the server in the kubeconfig',
  EAI_AGAIN: 'its name cannot be resolved: look at DNS, or correct the server in the kubeconfig',
  CERT_HAS_EXPIRED: 'its certificate has expired: renew the serving certificate',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for other names: use one of those as server in the kubeconfig',
  ...forAll(
    [
      'SELF_SIGNED_CERT_IN_CHAIN',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_SIGNATURE_FAILURE',
    ],
    'its certificate is of an authority that the kubeconfig does not name: correct certificate-authority',
  ),
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'it does not know the authority of the client certificate: issue another',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: expired,
  ...forAll(
    ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'],
    'it does not answer in time: look at its load, and at the network between',
  ),
  ...forAll(
    ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'],
    'it breaks connections off: look at its log, and at the network between',
  ),
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: correct the server in the kubeconfig',
}

const unknown = 'it does not know the credentials in the kubeconfig: renew the client certificate or token'

/** What every view needs: to see the objects of all logical clusters. Only this process's own requests tell. */
const isOverAll = ({ target, headers = {} }: ShardRequest): boolean =>
  target.startsWith('/clusters/*/') && !('impersonate-user' in headers)

const refused =
  'its user may not see the objects of all logical clusters: use a kubeconfig whose user is in the group system:masters'

function adviceFor(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  if (typeof code === 'string' && Object.hasOwn(advice, code)) return advice[code] ?? ''
  return failureOf(error).message.replace(/^.*: /, '')
}

/** What may be wrong, each found out and mended by itself. */
interface Problems {
  /** When the client certificate ends, in milliseconds since the epoch. */
  expires: number
  connection: string | undefined
  credentials: string | undefined
  /** What this process may not see everywhere. */
  readonly refused: Set<string>
}

function problemOf({ expires, connection, credentials, refused: paths }: Problems): string | undefined {
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
    const problem = problemOf(problems)
    if (problem === told) return
    told = problem
    if (problem === undefined) log.warn({}, `the shard ${name()} can be used again`)
    else log.error({}, `the shard ${name()} cannot be used: ${problem}`)
  }
  return {
    isGood: () => problemOf(problems) === undefined,
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
      problems.connection = adviceFor(error)
      tell()
    },
  }
}
