import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { type Finding, failed, ok, skipped } from './finding.ts'
import { jsonOf, probe } from './probe.ts'
import { everyView } from './views.ts'

/** The client certificate of a front proxy or shard, for requests with identity headers. */
export interface Voucher {
  readonly cert: string
  readonly key: string
}

const pretended = 'oriel-doctor'
const asserted = { 'x-remote-user': pretended, 'x-remote-group': 'system:authenticated' }

/** Checks that a server accepts identity headers from front proxies and shards only. */
export async function headerFindings(
  { ca, insecure }: ServerAccess,
  url: string,
  voucher: Voucher | undefined,
): Promise<readonly Finding[]> {
  const stranger = { server: url, ...(ca !== undefined && { ca }), ...(insecure && { insecure }) }
  const asStranger = await believed(stranger, url)
  const strangers = asStranger
    ? failed(
        'header trust',
        `${url} believes X-Remote-User from anybody`,
        'set --requestheader-client-ca-file to the authority of the front proxy, and to no other',
      )
    : ok('header trust', `${url} does not believe strangers`)
  if (voucher === undefined)
    return [
      strangers,
      skipped('front proxy', 'give --client-cert-file and --client-key-file of a front proxy or shard'),
    ]
  const vouched = await believed({ ...stranger, ...voucher }, url)
  return [
    strangers,
    vouched
      ? ok('front proxy', `${url} believes whom the client certificate vouches for`)
      : failed(
          'front proxy',
          `${url} does not believe whom the client certificate vouches for`,
          'add its authority to --requestheader-client-ca-file there, and its common name to --requestheader-allowed-names',
        ),
  ]
}

/** The message of a 403 has the user name. */
async function believed(access: ServerAccess, url: string): Promise<boolean> {
  const seen = await probe(access, url + everyView, { headers: asserted })
  return seen.status === 403 && (jsonOf<{ message: string }>(seen).message ?? '').includes(`"${pretended}"`)
}
