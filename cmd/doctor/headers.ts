import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { type Finding, failed, ok, skipped } from './finding.ts'
import { jsonOf, probe } from './probe.ts'
import { everyView } from './views.ts'

/** The client certificate of a front proxy or shard, which permits identity headers. */
export interface ProxyCertificate {
  readonly cert: string
  readonly key: string
}

const pretended = 'oriel-doctor'
const asserted = { 'x-remote-user': pretended, 'x-remote-group': 'system:authenticated' }

/** Checks that a server accepts identity headers from front proxies and shards only. */
export async function headerFindings(
  { ca, insecure }: ServerAccess,
  url: string,
  proxyCertificate: ProxyCertificate | undefined,
): Promise<readonly Finding[]> {
  const anonymous = { server: url, ...(ca !== undefined && { ca }), ...(insecure && { insecure }) }
  const isOpen = await acceptsHeaders(anonymous, url)
  const withoutCertificate = isOpen
    ? failed(
        'header trust',
        `${url} accepts X-Remote-User from clients without a certificate`,
        'set --requestheader-client-ca-file to the certificate authority of the front proxy only',
      )
    : ok('header trust', `${url} rejects X-Remote-User from clients without a certificate`)
  if (proxyCertificate === undefined)
    return [
      withoutCertificate,
      skipped('front proxy', 'give --client-cert-file and --client-key-file of a front proxy or shard'),
    ]
  const isAccepted = await acceptsHeaders({ ...anonymous, ...proxyCertificate }, url)
  return [
    withoutCertificate,
    isAccepted
      ? ok('front proxy', `${url} accepts X-Remote-User with this client certificate`)
      : failed(
          'front proxy',
          `${url} rejects X-Remote-User with this client certificate`,
          'add its authority to --requestheader-client-ca-file there, and its common name to --requestheader-allowed-names',
        ),
  ]
}

/** Whether the server uses the name in X-Remote-User: the message of a 403 names the user. */
async function acceptsHeaders(access: ServerAccess, url: string): Promise<boolean> {
  const seen = await probe(access, url + everyView, { headers: asserted })
  return seen.status === 403 && (jsonOf<{ message: string }>(seen).message ?? '').includes(`"${pretended}"`)
}
