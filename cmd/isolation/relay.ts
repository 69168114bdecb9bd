import type { IncomingHttpHeaders } from 'node:http'
import type { IsolatedRequest } from '../../framework/contract/pluginsupervisor.ts'
import type { Forwarding } from '../../framework/contract/upstream.ts'
import type { StatusError } from '../../framework/meta/errors.ts'
import { BadGateway } from '../../framework/net/failure.ts'
import { forward } from '../../framework/net/forward.ts'
import { type HeaderMap, passedOn } from '../../framework/net/headers.ts'
import { forwardUpgrade } from '../../framework/net/upgrade.ts'
import { impersonationHeaders, isPrivateHeader } from './privateheaders.ts'
import type { ViewProcess } from './viewprocess.ts'

/** The authority of requests to a process; they go to its socket. */
export const origin = 'http://view'

/** Passes a request on to a process. `failed` makes the error for a process that does not answer, from the reason. */
export const relayed = (
  process: ViewProcess,
  request: IsolatedRequest,
  failed: (why: string) => StatusError,
): Forwarding => ({
  async forward(client) {
    const { incoming } = request
    const sent = {
      origin,
      target: incoming.path + incoming.search,
      headers: headersOf(process, request),
      answered: (headers: IncomingHttpHeaders) => passed(headers, incoming),
    }
    const observer = { received: request.sent, ended: () => undefined, failed: () => undefined }
    try {
      if (client.upgrade !== undefined)
        return await forwardUpgrade({ ...sent, connect: { socketPath: process.socketPath } }, client)
      await forward({ ...sent, observer, dispatcher: await process.client.dispatcher() }, client)
    } catch (error) {
      throw error instanceof BadGateway ? failed(error.why) : error
    }
  },
})

/** The request of the client, with the user instead of credentials. */
const headersOf = (process: ViewProcess, { incoming, user }: IsolatedRequest): HeaderMap => ({
  ...passedOn(incoming.headers, name => isPrivateHeader(name) || name.startsWith('impersonate-')),
  ...impersonationHeaders(incoming.credentials),
  ...process.headersOf(user),
  'audit-id': incoming.auditId,
  'x-kcp-virtual-resource-hops': String(incoming.hops),
})

/** The audit ID of the response is that of the audit log, whatever the process sends. */
const passed = (headers: IncomingHttpHeaders, { auditId }: IsolatedRequest['incoming']) =>
  ({ ...passedOn(headers, name => name === 'audit-id'), 'audit-id': auditId }) as Record<string, string>
