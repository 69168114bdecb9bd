import { X509Certificate } from 'node:crypto'
import { problemOf, problemOfCode } from '../../framework/net/failure.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { type Finding, failed, ok, skipped, warning } from './finding.ts'
import { isTrusted, jsonOf, type ProbeResponse, probe } from './probe.ts'

const day = 86_400_000
/** Accepted clock difference in milliseconds, about the tolerance for tokens and certificates. */
const tolerance = { warning: 30_000, failed: 300_000 }

/** Checks that the server of the kubeconfig is reachable, has a trusted certificate, and accepts the credentials. */
export async function serverFindings(access: ServerAccess): Promise<readonly Finding[]> {
  const { origin } = new URL(access.server)
  const where = 'server in the kubeconfig'
  const own = clientCertificate(access)
  let seen: ProbeResponse
  try {
    seen = await probe(access, `${origin}/version`)
  } catch (error) {
    const { reason, change } = problemOf(error, where)
    return [failed('server', `${origin}: ${reason}`, change), ...own]
  }
  const { gitVersion = 'an unknown version' } = jsonOf<{ gitVersion: string }>(seen)
  return [
    ok('server', `${origin} answers: ${gitVersion}`),
    certificateFinding('certificate', origin, seen, where),
    ...own,
    clock(origin, seen),
    isTrusted(access, seen.certificate)
      ? await identity(access, origin)
      : skipped('credentials', 'not sent to a server whose certificate is not trusted'),
  ]
}

/** Checks the certificate of a server. */
export function certificateFinding(
  check: string,
  origin: string,
  { certificate }: ProbeResponse,
  where: string,
): Finding {
  const { problem: code, validTo = new Date(0) } = certificate ?? {}
  if (code !== undefined) {
    const { reason, change } = problemOfCode(code, where)
    return failed(check, `${origin}: ${reason}`, change)
  }
  return validity(check, `the certificate of ${origin}`, validTo, 'renew the serving certificate')
}

function validity(check: string, what: string, until: Date, change: string): Finding {
  const left = Math.floor((until.getTime() - Date.now()) / day)
  const date = until.toISOString().slice(0, 10)
  if (left < 0) return failed(check, `${what} has expired on ${date}`, change)
  const message = `${what} is valid until ${date}`
  return left < 14 ? warning(check, message, change) : ok(check, message)
}

/** Checks the client certificate of the kubeconfig. */
function clientCertificate({ cert }: ServerAccess): readonly Finding[] {
  if (cert === undefined) return []
  const check = 'client certificate'
  const change = 'renew the client certificate in the kubeconfig'
  const { validFrom, validTo, subject } = new X509Certificate(cert)
  const what = `the certificate of ${subject.replaceAll('\n', ', ')}`
  const from = new Date(validFrom)
  if (from.getTime() > Date.now())
    return [
      failed(
        check,
        `${what} is not valid before ${from.toISOString()}`,
        `check the clock of this machine, or ${change}`,
      ),
    ]
  return [validity(check, what, new Date(validTo), change)]
}

function clock(origin: string, { headers }: ProbeResponse): Finding {
  const there = Date.parse(String(headers.date ?? ''))
  if (Number.isNaN(there)) return warning('clock', `${origin} sends no Date header`, 'check its clock')
  const apart = Math.abs(Date.now() - there)
  const message = `the clocks of this machine and of ${origin} differ by ${Math.round(apart / 1000)} s`
  const change = 'run NTP on both machines: the validity of tokens and certificates depends on the clock'
  if (apart > tolerance.failed) return failed('clock', message, change)
  return apart > tolerance.warning ? warning('clock', message, change) : ok('clock', message)
}

interface Review {
  readonly message: string
  readonly status: { readonly userInfo?: { readonly username: string; readonly groups?: readonly string[] } }
}

async function identity(access: ServerAccess, origin: string): Promise<Finding> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const url = `${origin}/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews`
  const seen = await probe(access, url, { body: review })
  const change = 'renew the token or client certificate in the kubeconfig'
  if (seen.status === 401) return failed('credentials', `${origin} rejects them`, change)
  const user = jsonOf<Review>(seen).status?.userInfo
  if (user === undefined)
    return failed(
      'credentials',
      `${origin} does not return their user: it responds with ${seen.status}`,
      change,
    )
  return ok('credentials', `${origin} accepts them as user ${user.username}`)
}
