import { aborted } from '../../framework/async/awaitable.ts'
import type { Outbound } from '../../framework/contract/upstream.ts'
import {
  type Host,
  type Item,
  type Logger,
  loopbackContext,
  type ResourceRef,
  StatusError,
} from '../../framework/index.ts'
import { isNotFound } from '../../framework/meta/statuschecks.ts'
import { withoutVersion } from '../../framework/publishing/publisher.ts'
import { resources } from '../../kcp/index.ts'
import { MountedCluster } from './mount.ts'
import { statusOf } from './status.ts'
import type { KubeCluster } from './types.ts'

/** The KubeClusters of all workspaces, probed regularly; the contents of their kubeconfigs are kept in memory only. */
export interface Mounts {
  find(cluster: string, name: string): MountedCluster | undefined
  /** Follows objects and secrets, probes and reports, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
}

export interface MountsOptions {
  readonly host: Host
  readonly outbound: Outbound
  /** KubeClusters, with the identity of their export. */
  readonly resource: ResourceRef
}

/** Milliseconds between two probes of a cluster, ± 10 %, and the timeout of a probe. */
const every = 15_000
const probeTimeout = 5_000

export function watchMounts(options: MountsOptions): Mounts {
  const { host, resource } = options
  const mounts = new Map<string, MountedCluster>()
  const objects = host.informers.for(resource)
  const secrets = host.informers.for(resources.secrets)
  const bySecret = objects.index(secretKeys)
  const take = (item: Item): boolean => {
    const id = idOf(item)
    const mount = mounts.get(id) ?? new MountedCluster(item)
    mounts.set(id, mount)
    const { name, namespace = 'default' } = (item.object as KubeCluster).spec.secretRef
    return mount.take(item, secrets.get(item.key.cluster, namespace, name))
  }
  return {
    find: (cluster, name) => mounts.get(`${cluster}/${name}`),
    async run(signal) {
      const probe = createProbing(options, mounts, signal)
      const look = (item: Item): void => {
        if (take(item)) probe(idOf(item))
      }
      const stops = [
        objects.onEvent(({ type, item }) => {
          if (type === 'DELETED') forget(mounts, item)
          else if (type !== 'BOOKMARK') look(item)
        }),
        secrets.onEvent(({ item }) => bySecret(secretKey(item)).forEach(look)),
      ]
      await aborted(signal)
      for (const stop of stops) stop()
      for (const mount of mounts.values()) mount.end()
    },
  }
}

const idOf = ({ key }: Item): string => `${key.cluster}/${key.name}`
const secretKey = ({ key }: Item): string => `${key.cluster}/${key.namespace}/${key.name}`

function secretKeys({ key, object }: Item): readonly string[] {
  const { name, namespace = 'default' } = (object as KubeCluster).spec.secretRef
  return [`${key.cluster}/${namespace}/${name}`]
}

function forget(mounts: Map<string, MountedCluster>, item: Item): void {
  mounts.get(idOf(item))?.end()
  mounts.delete(idOf(item))
}

/** Asks a cluster now, and then again and again, one question at a time. */
function createProbing(
  options: MountsOptions,
  mounts: ReadonlyMap<string, MountedCluster>,
  signal: AbortSignal,
): (id: string) => void {
  const timers = new Map<string, NodeJS.Timeout>()
  const running = new Set<string>()
  const probe = async (id: string): Promise<void> => {
    clearTimeout(timers.get(id))
    const mount = mounts.get(id)
    if (mount === undefined || signal.aborted || running.has(id)) return
    running.add(id)
    const { version } = mount
    const problem = await problemOf(options.outbound, mount, signal)
    running.delete(id)
    // The question was about another kubeconfig than there is now.
    if (mounts.get(id) !== mount || mount.version !== version) return probe(id)
    mount.answered(problem)
    await report(options, mount, signal)
    timers.set(id, setTimeout(() => void probe(id), every * (0.9 + Math.random() / 5)).unref())
  }
  return id => void probe(id)
}

/** The problem of the cluster according to `/readyz`, or to `/version` where `/readyz` is missing. */
async function problemOf(
  outbound: Outbound,
  { endpoint }: MountedCluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (endpoint === undefined) return 'it cannot be asked without a kubeconfig'
  const limit = AbortSignal.any([signal, AbortSignal.timeout(probeTimeout)])
  try {
    const first = await outbound.get(endpoint, '/readyz', limit)
    const { status } = first.status === 404 ? await outbound.get(endpoint, '/version', limit) : first
    if (status === 401 || status === 403) return `the cluster refuses the credentials with ${status}`
    return status === 200 ? undefined : `the cluster answers ${status}`
  } catch (error) {
    return error instanceof StatusError ? error.message : 'the cluster does not answer'
  }
}

/** Writes the result of a probe to the status when it changed. */
async function report(
  { host, resource }: MountsOptions,
  mount: MountedCluster,
  signal: AbortSignal,
): Promise<void> {
  const now = new Date()
  const next = (object: KubeCluster): KubeCluster => {
    const status = statusOf(object.status ?? {}, mount.health, now)
    return status === object.status ? object : { ...object, status }
  }
  const { key, object } = mount.item
  if (signal.aborted || next(object as KubeCluster) === object) return
  const ref = { ...resource, subresource: 'status' }
  const { log } = host
  const ctx = loopbackContext({ verb: 'update', resource: ref, cluster: key.cluster, signal, log })
  const options = { dryRun: false, fieldManager: 'mounts' }
  try {
    // The URL is published by another controller, possibly at the same time.
    const change = (current: Item) => withoutVersion(next(current.object as KubeCluster))
    await host.backend.storage(ref).update(ctx, key, change, options)
  } catch (error) {
    logFailure(log, error, key.name)
  }
}

/** A deleted object needs no status; other failures are retried with the next probe. */
function logFailure(log: Logger, error: unknown, name: string): void {
  if (isNotFound(error)) return
  log.warn({ name, error: String(error) }, 'updating the status of a KubeCluster failed')
}
