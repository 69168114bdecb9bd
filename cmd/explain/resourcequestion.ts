import type { Explanation } from '../../authz/index.ts'
import type { DiscoveredGroups } from '../../framework/discovery/discovered.ts'
import type { JsonClient } from '../../framework/net/jsonclient.ts'
import type { ConnectionFlags } from '../flags/connection.ts'
import type { ExplainedMount } from './mountidentity.ts'
import { pathWarnings, resourceWarnings } from './questionwarnings.ts'

/** The attributes of a review, and their text. */
export interface ResourceQuestion {
  readonly attributes: object
  /** `get configmaps "settings" in the namespace "default"` */
  readonly words: string
}

/** A question as it was typed. */
export interface TypedQuestion extends ResourceQuestion {
  /** What may be a mistake: a resource that the server does not have, or an unknown verb. */
  readonly warnings: readonly string[]
}

interface Found {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespaced: boolean
}

/**
 * Parses the arguments: a path, or a resource as in kubectl: `deploy`, `deployments.apps`, `deployments.apps/web`.
 * A resource that is not in the discovery of the server is used unchanged, with a warning.
 */
export async function findResource(
  client: JsonClient,
  asked: Asked,
  scope: ResourceScope,
): Promise<TypedQuestion> {
  const { verb } = asked
  if (asked.resource.startsWith('/')) {
    const path = asked.resource
    const attributes = { nonResourceAttributes: { verb, path } }
    return { attributes, words: `${verb} ${path}`, warnings: pathWarnings(verb) }
  }
  const [typed = '', ownName = ''] = asked.resource.split('/')
  const discovered = await discover(client, typed)
  const found = typeof discovered === 'string' ? asTyped(typed) : discovered
  const question = questionOf(verb, found, asked.name ?? ownName, scope)
  return {
    ...question,
    warnings: resourceWarnings(verb, { ...found, isMissing: discovered === 'missing' }),
  }
}

function questionOf(verb: string, found: Found, name: string, scope: ResourceScope): ResourceQuestion {
  const { group, version, resource, namespaced } = found
  const namespace = namespaced && scope.allNamespaces !== true ? (scope.namespace ?? 'default') : ''
  const { subresource = '' } = scope
  const given = { verb, group, version, resource, subresource, namespace, name }
  const resourceAttributes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const what = [resource, ...(group === '' ? [] : [group])].join('.') + (subresource && `/${subresource}`)
  const where = namespace === '' ? '' : ` in the namespace "${namespace}"`
  return { attributes: { resourceAttributes }, words: `${verb} ${what}${name && ` "${name}"`}${where}` }
}

/** `<plural>.<group>` */
function asTyped(typed: string): Found {
  const [resource = '', ...group] = typed.split('.')
  return { group: group.join('.'), version: '', resource, namespaced: true }
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/**
 * The core group first, then in the order of discovery; the preferred version of each. `missing`: the server does not have the
 * resource; `unknown`: it does not tell all of its resources.
 */
async function discover(client: JsonClient, typed: string): Promise<Found | 'missing' | 'unknown'> {
  let isWhole = true
  for (const path of ['/api', '/apis']) {
    const { status, body } = await client(path, { accept }).catch(() => ({ status: 0, body: undefined }))
    const found = status === 200 ? findIn(body as DiscoveredGroups, typed.toLowerCase()) : undefined
    if (found !== undefined) return found
    isWhole &&= status === 200
  }
  return isWhole ? 'missing' : 'unknown'
}

function findIn({ items = [] }: DiscoveredGroups, typed: string): Found | undefined {
  const [wanted, ...wantedGroup] = typed.split('.')
  for (const { metadata, versions = [] } of items) {
    const group = metadata?.name ?? ''
    if (wantedGroup.length > 0 && wantedGroup.join('.') !== group) continue
    for (const { version, resources = [] } of versions)
      for (const { resource, singularResource, shortNames = [], scope } of resources)
        if ([resource, singularResource, ...shortNames].includes(wanted))
          return { group, version, resource, namespaced: scope === 'Namespaced' }
  }
  return undefined
}

/** The user whose permissions are explained; absent: the one who asks. */
export interface ExplainSubject {
  readonly as?: string
  readonly asGroup?: readonly string[]
}

/** Which objects of a resource a question is about. */
export interface ResourceScope {
  readonly namespace?: string
  readonly allNamespaces?: true
  readonly subresource?: string
}

/** The flags of `oriel explain`. */
export interface ExplainOptions extends ConnectionFlags, ExplainSubject, ResourceScope {
  readonly output: 'text' | 'yaml' | 'json'
}

/** The arguments of `oriel explain`, such as `get configmaps/settings`. */
export interface Asked {
  readonly verb: string
  readonly resource: string
  readonly name?: string
}

/** The result of a review. `explanation` is absent on servers that do not explain, such as kcp. */
export interface Explained {
  readonly allowed: boolean
  readonly reason: string
  readonly explanation?: Explanation
  /** For a question about a mounted workspace that the caller may get. */
  readonly mount?: ExplainedMount
}
