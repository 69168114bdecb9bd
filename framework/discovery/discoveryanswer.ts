import { type Awaitable, after } from '../async/awaitable.ts'
import type { ApiSet } from '../contract/apis.ts'
import { notServed } from '../meta/errors.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { negotiate, parseAccept } from '../responses/negotiation.ts'
import { aggregated, aggregatedType, aggregatedVersion } from './aggregated.ts'
import { coreVersions, groupList, groupOf, resourceList } from './discovery.ts'
import { documentWithTag } from './openapiendpoint.ts'

/**
 * The discovery documents: `/api`, `/apis` and paths below them up to `/apis/<group>/<version>` (rules.md 8.1 to 8.9).
 * Throws 404 for groups and versions that are not served. `address`: host and port of the server.
 */
export function discoveryAnswer(
  apis: ApiSet,
  path: string,
  request: VerbRequest,
  address: string,
): Awaitable<Answer> {
  if (path === '/api' || path === '/apis') {
    const version = apis.unaggregated ? undefined : wantedVersion(request)
    if (version !== undefined)
      return after(aggregated(apis, path, version), document =>
        documentWithTag(document, request, aggregatedType(version)),
      )
  }
  const document = unaggregated(apis, path, address)
  if (document === undefined) throw notServed()
  const answer = documentAnswer(document, negotiate(request, 'documents'))
  return { ...answer, headers: { Vary: 'Accept' } }
}

const unaggregatedTypes = new Set(['application/json', 'application/yaml', 'application/*', '*/*', '*'])

/** The first clause that can be served decides between aggregated and unaggregated discovery. */
function wantedVersion({ headers }: VerbRequest): ReturnType<typeof aggregatedVersion> {
  for (const clause of parseAccept(headers.accept)) {
    const version = aggregatedVersion(clause)
    if (version !== undefined) return version
    if (clause.parameters.as === undefined && unaggregatedTypes.has(clause.type)) return undefined
  }
  return undefined
}

function unaggregated(apis: ApiSet, path: string, address: string): object | undefined {
  const [root, group, version, ...more] = path.slice(1).split('/')
  if (more.length > 0) return undefined
  if (root === 'api') {
    if (group === undefined) return coreVersions(address)
    return version === undefined ? resourceList(apis, '', group) : undefined
  }
  if (group === undefined) return groupList(apis)
  return version === undefined ? groupOf(apis, group) : resourceList(apis, group, version)
}
