import { StartError } from '../files/starterror.ts'
import type { ResourceQuestion } from './resourcequestion.ts'

/** A review for a request to a view, and the logical cluster that authorizes it. */
export interface ViewQuestion {
  /** URL of the logical cluster that authorizes. */
  readonly server: string
  /** URL of a process of views for reviews in that logical cluster. */
  readonly explainer: string
  /** Path of the view. */
  readonly view: string
  /** The first review of the view in that logical cluster, for servers that do not explain views; undefined if unknown. */
  readonly question?: ResourceQuestion
}

interface ViewUrl {
  /** The path segments between the name of the view and `/clusters/`. */
  readonly params: readonly string[]
  readonly cluster: string
}

interface Target {
  readonly cluster: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly name?: string
}

/** The first request that each view authorizes (kcp `pkg/virtual/<view>/authorizer`); undefined: the request itself. */
const deciders: Readonly<Record<string, (url: ViewUrl, verb: string) => Target | undefined>> = {
  apiexport: ({ params: [cluster = '', name = ''] }, verb) => contentTarget(cluster, verb, name),
  replication: ({ params: [cluster = ''] }, verb) => contentTarget(cluster, verb),
  apiresourceschema: ({ params: [cluster = ''] }) => ({
    cluster,
    verb: 'get',
    group: 'apis.kcp.io',
    resource: 'apibindings',
  }),
  views: ({ params: [cluster = '', name = ''] }, verb) => ({
    cluster,
    verb,
    name,
    group: 'views.oriel.dev',
    resource: 'views',
    subresource: 'content',
  }),
  initializingworkspaces: ({ params: [identifier = ''] }) => typeTarget('initialize', identifier),
  terminatingworkspaces: ({ params: [identifier = ''] }) => typeTarget('terminate', identifier),
}

const contentTarget = (cluster: string, verb: string, name?: string): Target => ({
  cluster,
  verb,
  group: 'apis.kcp.io',
  resource: 'apiexports',
  subresource: 'content',
  ...(name === undefined ? {} : { name }),
})

function typeTarget(verb: string, identifier: string): Target | undefined {
  const colon = identifier.lastIndexOf(':')
  const [cluster, name] = [identifier.slice(0, colon), identifier.slice(colon + 1)]
  return colon < 1 ? undefined : { cluster, verb, group: 'tenancy.kcp.io', resource: 'workspacetypes', name }
}

/** Views that review the attributes of the request in the logical cluster of the URL. */
const plain = new Set(['workspaces', 'mounts'])

const viewUrl = /^(https?:\/\/[^/]+)(\/services\/([^/]+)((?:\/[^/]+)*?)\/clusters\/([^/]+))$/

/** Whether the URL is that of a view. */
export const isView = (server: string): boolean => /^https?:\/\/[^/]+\/services\//.test(server)

/** The review for a request to a view. Throws `StartError` when the URL does not have the logical cluster. */
export function behindView(server: string, asked: ResourceQuestion, verb: string): ViewQuestion {
  const [, origin = '', view = '', name = '', params = '', cluster = ''] = viewUrl.exec(server) ?? []
  const url = { params: params.split('/').slice(1).map(decodeURIComponent), cluster }
  const target = deciders[name]?.(url, verb)
  const decider = target?.cluster ?? cluster
  if (decider === '' || decider === '*' || (name in deciders && target === undefined))
    throw new StartError(`${server} names no logical cluster: give --server the URL of a workspace.`)
  return {
    server: `${origin}/clusters/${decider}`,
    explainer: `${origin}/services/explain/clusters/${decider}`,
    view,
    ...(target && { question: questionOf(target, asked, name) }),
    ...(plain.has(name) && { question: asked }),
  }
}

function questionOf(
  { cluster, ...attributes }: Target,
  asked: ResourceQuestion,
  view: string,
): ResourceQuestion {
  const { verb, group, resource, subresource, name } = attributes
  const what = `${resource}.${group}${subresource === undefined ? '' : `/${subresource}`}`
  const which = name === undefined ? '' : ` "${name}"`
  const words = `${asked.words} through ${view}, which requires ${verb} ${what}${which} in ${cluster}`
  return { attributes: { resourceAttributes: attributes }, words }
}
