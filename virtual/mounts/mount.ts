import type { UpstreamEndpoint } from '../../framework/contract/upstream.ts'
import type { Item } from '../../framework/index.ts'
import { readTenantKubeconfig } from '../../framework/net/kubeconfig.ts'
import { claimLabelKey, claimLabelValue } from '../../kcp/index.ts'

import type { Health } from './status.ts'
import { type KubeCluster, type MountPhase, mountExport } from './types.ts'

const claimKey = claimLabelKey(mountExport)
const claimValue = claimLabelValue({ group: '', resource: 'secrets' })

/** Milliseconds in which an unreachable cluster is Connecting before it is Unknown. */
const connectTimeout = 60_000

/** The state of one KubeCluster: its connection, and whether it is reachable. A class, because it changes. */
export class MountedCluster {
  item: Item
  /** Changes when the object or its secret does, but not with the status. */
  version = ''
  endpoint: UpstreamEndpoint | undefined
  phase: MountPhase = 'Initializing'
  #replaced = new AbortController()
  #secretProblem: string | undefined
  #clusterProblem: string | undefined
  /** When it last answered, or was first asked. */
  #since = performance.now()

  constructor(item: Item) {
    this.item = item
  }

  /** Aborts when the connection that open streams use is replaced. */
  get replaced(): AbortSignal {
    return this.#replaced.signal
  }

  get health(): Health {
    const [secretProblem, clusterProblem] = [this.#secretProblem, this.#clusterProblem]
    return {
      phase: this.phase,
      ...(secretProblem !== undefined && { secretProblem }),
      ...(clusterProblem !== undefined && { clusterProblem }),
    }
  }

  /** Applies the current object and secret. Returns true when the cluster must be probed again. */
  take(item: Item, secret: Item | undefined): boolean {
    this.item = item
    const version = versionOf(item, secret)
    if (version === this.version) return false
    this.end()
    const read = readSecret(secret)
    this.version = version
    this.endpoint = read.endpoint
    this.#secretProblem = read.problem
    this.#since = performance.now()
    if (this.phase === 'Ready') this.phase = 'Connecting'
    return true
  }

  /** Takes the answer of the cluster; undefined: it is well. */
  answered(problem: string | undefined): void {
    this.#clusterProblem = problem
    if (problem === undefined && this.endpoint !== undefined) {
      this.phase = 'Ready'
      this.#since = performance.now()
      return
    }
    if (this.phase === 'Ready') this.end()
    this.phase = performance.now() - this.#since < connectTimeout ? 'Connecting' : 'Unknown'
  }

  /** Ends the streams that are open. */
  end(): void {
    this.#replaced.abort()
    this.#replaced = new AbortController()
  }
}

function versionOf(item: Item, secret: Item | undefined): string {
  const { secretRef, identity } = (item.object as KubeCluster).spec
  const of = secret?.meta
  return JSON.stringify([
    item.meta.uid,
    secretRef,
    identity,
    of?.uid,
    of?.resourceVersion,
    of?.labels[claimKey],
  ])
}

interface ReadSecret {
  readonly endpoint?: UpstreamEndpoint
  readonly problem?: string
}

/** The workspace has to let the provider read its secret: by accepting the claim of its binding. */
function readSecret(secret: Item | undefined): ReadSecret {
  if (secret === undefined) return { problem: 'the Secret does not exist' }
  if (secret.meta.labels[claimKey] !== claimValue)
    return { problem: 'the Secret may not be read: accept the permission claim on secrets in the APIBinding' }
  const { kubeconfig } = (secret.object.data ?? {}) as Readonly<Record<string, unknown>>
  if (typeof kubeconfig !== 'string') return { problem: 'the Secret has no key "kubeconfig"' }
  return readTenantKubeconfig(Buffer.from(kubeconfig, 'base64').toString())
}
