import { isPrivileged } from '../request/user.ts'
import type { Span } from '../tracing/span.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Exchange, Handler } from './serve.ts'

/** A handler whose requests are traced. */
export const traced =
  (tracing: Tracing, handler: Handler): Handler =>
  exchange =>
    tracing.request(
      {
        measured: exchange.measured,
        parent: headerOf(exchange),
        isTrusted: () => {
          const caller = exchange.requestor ?? exchange.user
          return caller !== undefined && isPrivileged(caller)
        },
        isHeld: () => isHeld(exchange),
        describe: () => describe(exchange),
      },
      () => handler(exchange),
    )

/** A watch, or a response of another server. */
const isHeld = ({ target }: Exchange): boolean => target === undefined || target.info.verb === 'watch'

function headerOf({ incoming }: Exchange): string | undefined {
  const { traceparent } = incoming.headers
  return typeof traceparent === 'string' ? traceparent : undefined
}

/** No names of objects and users: traces are read by others than the objects. */
function describe({ incoming, target }: Exchange): Pick<Span, 'name' | 'attributes'> {
  const common = { 'http.request.method': incoming.method, 'audit-id': incoming.auditId }
  if (target === undefined) return { name: incoming.method, attributes: common }
  const { info, workspace, cluster = '' } = target
  const resource = info.isResource
    ? [info.resource, info.subresource].filter(part => part !== '').join('/')
    : ''
  return {
    name: resource === '' ? `${info.verb} (no resource)` : `${info.verb} ${resource}`,
    attributes: {
      ...common,
      'oriel.view': workspace.name || 'clusters',
      'oriel.cluster': cluster,
      'k8s.verb': info.verb,
      'k8s.resource': resource,
    },
  }
}
