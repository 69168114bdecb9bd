import type { ResourceQuestion } from './resourcequestion.ts'
import { StartError } from './starterror.ts'

/** A question to a view, put to the logical cluster that decides it. */
export interface ViewQuestion {
  /** Where it is put. */
  readonly server: string
  readonly question: ResourceQuestion
}

interface ViewUrl {
  readonly origin: string
  /** Between the view's name and `/clusters/`. */
  readonly params: readonly string[]
  readonly cluster: string
}

interface Target {
  readonly cluster: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly name: string
}

/** What each view asks before it answers (chapter 10, sections 3.5, 4.5 and 5). */
const deciders: Readonly<Record<string, (url: ViewUrl, verb: string) => Target | undefined>> = {
  apiexport: ({ params: [cluster = '', name = ''] }, verb) => ({
    ...{ cluster, verb, name },
    ...{ group: 'apis.kcp.io', resource: 'apiexports', subresource: 'content' },
  }),
  initializingworkspaces: ({ params: [identifier = ''] }) => typeTarget('initialize', identifier),
  terminatingworkspaces: ({ params: [identifier = ''] }) => typeTarget('terminate', identifier),
}

function typeTarget(verb: string, identifier: string): Target | undefined {
  const colon = identifier.lastIndexOf(':')
  const [cluster, name] = [identifier.slice(0, colon), identifier.slice(colon + 1)]
  return colon < 1 ? undefined : { cluster, verb, group: 'tenancy.kcp.io', resource: 'workspacetypes', name }
}

/** Views that ask the logical cluster of their URL the very same. */
const plain = new Set(['workspaces', 'mounts'])

const viewUrl = /^(https?:\/\/[^/]+)\/services\/([^/]+)((?:\/[^/]+)*?)\/clusters\/([^/]+)$/

/** Whether a server's URL is that of a view. */
export const isView = (server: string): boolean => /^https?:\/\/[^/]+\/services\//.test(server)

/** What has to be asked instead of a view. Throws `StartError` where nobody can say. */
export function behindView(server: string, asked: ResourceQuestion, verb: string): ViewQuestion {
  const [, origin = '', view = '', params = '', cluster = ''] = viewUrl.exec(server) ?? []
  if (plain.has(view) && cluster !== '*') return { server: `${origin}/clusters/${cluster}`, question: asked }
  const url = { origin, params: params.split('/').slice(1).map(decodeURIComponent), cluster }
  const target = deciders[view]?.(url, verb)
  if (target === undefined)
    throw new StartError(`Who decides at ${server} cannot be asked: give the URL of a workspace.`)
  return { server: `${origin}/clusters/${target.cluster}`, question: questionOf(target, asked, view) }
}

function questionOf(
  { cluster, ...attributes }: Target,
  asked: ResourceQuestion,
  view: string,
): ResourceQuestion {
  const { verb, group, resource, subresource, name } = attributes
  const what = `${resource}.${group}${subresource === undefined ? '' : `/${subresource}`}`
  const words = `${asked.words} through ${view}, which takes ${verb} ${what} "${name}" in ${cluster}`
  return { attributes: { resourceAttributes: attributes }, words }
}
