import { isDeepStrictEqual } from 'node:util'
import type { Informer } from '../../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { keyOf } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import { type MountRef, mountOf, type WorkspaceMount } from './mountref.ts'

/** Why requests cannot be sent to the URL of a mount: reason and message of a condition. */
export interface TargetProblem {
  readonly reason: 'MountLoop' | 'MountTargetNotFound' | 'MountURLInvalid' | 'MountURLRefused'
  readonly message: string
}

/**
 * Checks a URL with the data of this shard: a URL of the workspace tree is a link; clients follow a redirect
 * themselves; any other URL must be allowed by the flags.
 */
export async function targetProblem(
  deps: KcpControllerDeps,
  { type, ref, identity }: WorkspaceMount,
  url: string,
): Promise<TargetProblem | undefined> {
  const path = pathIn(deps.shard.externalURL, url)
  if (path !== undefined) return linkProblem(deps, url, path)
  if (type === 'Redirect') return undefined
  const named = `The URL of ${ref.kind} "${ref.name}"`
  if (type === 'Workspace') {
    const message = `${named} is not that of a workspace here, as spec.mount.type "Workspace" requires: it must begin with ${deps.shard.externalURL}/clusters/`
    return { reason: 'MountURLInvalid', message }
  }
  if (isOfShard(deps, url)) return undefined
  const refusal = await deps.mountRefusal?.(url, identity)
  return refusal === undefined
    ? undefined
    : { reason: 'MountURLRefused', message: `${named} is refused: ${refusal}` }
}

/** With several shards, a missing workspace may be on another shard. */
function linkProblem(
  { informers, place, tenancy }: KcpControllerDeps,
  url: string,
  path: string,
): TargetProblem | undefined {
  const found = place(path)
  if (found?.kind === 'loop') return { reason: 'MountLoop', message: `${url} is part of a loop of mounts` }
  const isAlone = informers.for(tenancy.shards).list('root').length <= 1
  return found === undefined && isAlone
    ? { reason: 'MountTargetNotFound', message: `there is no workspace at ${url}` }
    : undefined
}

interface Shard extends KubeObject {
  readonly spec?: { readonly baseURL?: string }
}

/** Whether a shard serves the URL: such requests stay within the installation. */
function isOfShard({ informers, shard, tenancy }: KcpControllerDeps, url: string): boolean {
  const others = informers.for(tenancy.shards).list('root')
  const bases = others.map(({ object }) => (object as Shard).spec?.baseURL ?? '')
  return [shard.baseURL, ...bases].some(base => base !== '' && url.startsWith(`${base}/`))
}

function pathIn(externalURL: string, url: string): string | undefined {
  const prefix = `${externalURL}/clusters/`
  return url.startsWith(prefix) ? url.slice(prefix.length).replace(/\/$/, '') : undefined
}

/** The maximum length of a chain of workspaces that mount each other. */
const mostMounts = 8

/** Whether a workspace that mounts a Workspace object mounts itself in the end: none of them gets a URL. */
export function mountsItself(
  { informers, tenancy }: Pick<KcpControllerDeps, 'informers' | 'tenancy'>,
  cluster: string,
  ref: MountRef,
): boolean {
  const workspaces = informers.for(tenancy.workspaces)
  const seen = new Set<string>()
  let next: MountRef | undefined = ref
  while (next !== undefined && isWorkspace(next) && seen.size < mostMounts) {
    if (seen.has(next.name)) return true
    seen.add(next.name)
    const found = workspaces.get(cluster, '', next.name)?.object as Workspace | undefined
    next = found && mountOf(found)?.ref
  }
  return false
}

const isWorkspace = ({ apiVersion, kind }: MountRef): boolean =>
  kind === 'Workspace' && apiVersion.startsWith('tenancy.kcp.io/')

/**
 * Calls `changed` with the keys of links when a workspace is created, deleted or moved: of those with its name or its logical cluster in
 * their path.
 */
export function followLinks(
  { informers, shard, tenancy }: KcpControllerDeps,
  changed: (key: string) => void,
): () => void {
  const workspaces = informers.for(tenancy.workspaces)
  const links = workspaces.index(linksOf(shard.externalURL))
  return workspaces.onEvent(event => {
    if (!movesSomething(event)) return
    const segments = new Set([event.item, event.previous ?? event.item].flatMap(segmentsOf))
    for (const link of new Set([...segments].flatMap(links))) changed(keyOf(link))
  })
}

const segmentsOf = ({ key, object }: Item): readonly string[] => [
  key.name,
  (object as Workspace).spec?.cluster ?? '',
]

const linksOf =
  (externalURL: string): Parameters<Informer['index']>[0] =>
  ({ object }) => {
    const { spec } = object as Workspace
    if (mountOf(object as Workspace) === undefined) return []
    return pathIn(externalURL, spec?.URL ?? '')?.split(':') ?? []
  }

const movesSomething = ({ type, item, previous }: ItemEvent): boolean =>
  type === 'ADDED' ||
  type === 'DELETED' ||
  previous === undefined ||
  !isDeepStrictEqual(way(item), way(previous))

function way({ object }: Item): readonly unknown[] {
  const { spec, status } = object as Workspace
  return [spec?.URL, spec?.cluster, status?.phase]
}
