import type { Informer } from '../../../framework/contract/informer.ts'
import type { ItemEvent } from '../../../framework/contract/item.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { clusterScoped, updateObject, updateStatus } from '../client.ts'
import { type Controller, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import { createQueue, type Queue } from '../queue.ts'
import { createMountedKinds, type MountedKinds } from './mountedkinds.ts'
import { locateKind, type MountRef, mountOf, mountState, type WorkspaceMount } from './mountref.ts'
import { mountStatus, mountUrl, type Observation } from './mountstatus.ts'
import { followLinks, mountsItself, targetProblem } from './mounttarget.ts'

/** Milliseconds until the host of a refused URL is looked up again. */
const lookAgain = 60_000

/** Sets URL, condition and phase of mounted workspaces from the objects that they refer to. */
export function mountController(deps: KcpControllerDeps): Controller {
  const workspaces = deps.informers.for(deps.tenancy.workspaces)
  const queue: Queue = createQueue({ name: 'mount', log: deps.log, reconcile: key => reconcile(key) })
  const kinds = createMountedKinds(deps.informers, key => queue.add(key))
  const reconcile = async (key: string): Promise<void> => {
    const { cluster, name } = parseKey(key)
    const workspace = workspaces.get(cluster, '', name)?.object as Workspace | undefined
    const mount = workspace && mountOf(workspace)
    if (workspace === undefined || mount === undefined || workspace.metadata.deletionTimestamp !== undefined)
      return kinds.forget(key)
    const observed = await observe({ deps, kinds }, key, mount)
    if (observed.found === 'object' && observed.problem?.reason === 'MountURLRefused')
      queue.addAfter(key, lookAgain)
    await bring(deps, key, observed, mount.ref)
  }
  return {
    name: 'mount',
    idle: () => queue.idle(),
    async run(signal) {
      const stops = [
        workspaces.onEvent(event => {
          if (concerns(event)) queue.add(keyOf(event.item))
        }),
        followLinks(deps, key => queue.add(key)),
        ...[resources.apiBindings, resources.crds].map(ref =>
          followKinds(deps.informers.for(ref), workspaces, queue),
        ),
      ]
      await queue.run(signal)
      for (const stop of stops) stop()
    },
  }
}

const concerns = ({ type, item }: ItemEvent): boolean =>
  type !== 'BOOKMARK' && mountOf(item.object as Workspace) !== undefined

/** When the resources of a logical cluster change, its mounts are checked again. */
const followKinds = (definitions: Informer, workspaces: Informer, queue: Queue): (() => void) =>
  definitions.onEvent(({ item }) => {
    for (const mounted of byCluster(workspaces)(item.key.cluster)) queue.add(keyOf(mounted))
  })

const byCluster = (workspaces: Informer) => workspaces.index(mountedIn)

const mountedIn: Parameters<Informer['index']>[0] = item =>
  mountOf(item.object as Workspace) === undefined ? [] : [item.key.cluster]

interface Watching {
  readonly deps: KcpControllerDeps
  readonly kinds: MountedKinds
}

async function observe({ deps, kinds }: Watching, key: string, mount: WorkspaceMount): Promise<Observation> {
  const { cluster } = parseKey(key)
  const { ref } = mount
  const located = locateKind(deps, cluster, ref)
  if (located === undefined) {
    kinds.forget(key)
    return { found: 'no kind' }
  }
  const namespace = located.namespaced ? (ref.namespace ?? '') : ''
  const { resource } = located
  const item = kinds.follow(key, { resource, key: { cluster, namespace, name: ref.name } })
  if (item === undefined) return { found: 'nothing' }
  if (mountsItself(deps, cluster, ref)) return { found: 'itself' }
  const { url } = mountState(item.object)
  const problem = url === '' ? undefined : await targetProblem(deps, mount, url)
  return { found: 'object', object: item.object, ...(problem && { problem }) }
}

/** Writes the URL first: a ready workspace has one. */
async function bring(
  { client, tenancy }: KcpControllerDeps,
  key: string,
  observed: Observation,
  ref: MountRef,
): Promise<void> {
  const { cluster, name } = parseKey(key)
  const target = clusterScoped(cluster, name)
  await updateObject<Workspace>(client, tenancy.workspaces, target, current => {
    const URL = mountUrl(observed, current.spec?.URL)
    return URL === current.spec?.URL || URL === undefined
      ? current
      : { ...current, spec: { ...current.spec, URL } }
  })
  await updateStatus<Workspace>(client, tenancy.workspaces, target, current => ({
    ...current,
    status: mountStatus(current, ref, observed),
  }))
}
