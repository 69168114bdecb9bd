import type { Incoming } from '../framework/request/incoming.ts'
import type { Match } from './mapping.ts'

const personalPath = /^(\/services\/(?:(?:workspaces|namespaces|query)\/clusters|views)\/)([^/]+)(\/.*|)$/

/** The parts of a URL of the views `workspaces`, `namespaces` and `query` in one logical cluster, or of a declared View in it. */
export interface PersonalView {
  readonly prefix: string
  readonly cluster: string
  readonly rest: string
}

/** undefined for other URLs, and where the mapping file names a server for this view. */
export function personalView({ path }: Pick<Incoming, 'path'>, match: Match): PersonalView | undefined {
  const [, prefix, cluster, rest] = personalPath.exec(path) ?? []
  if (prefix === undefined || cluster === undefined || cluster === '*' || isMappedView(match))
    return undefined
  return { prefix, cluster, rest: rest ?? '' }
}

/** The mapping file names a server for these views. */
export const isMappedView = ({ mapping }: Match): boolean =>
  /^\/services\/(workspaces|namespaces|query|views)/.test(mapping.path)
