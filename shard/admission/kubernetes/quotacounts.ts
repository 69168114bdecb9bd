import type { KubeObject, ObjectKey } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { type ControllerClient, updateStatus } from '../../controllers/client.ts'

/** The quota with more used; throws when that is exceeded. */
type Take = (quota: KubeObject) => KubeObject

interface Waiting {
  readonly take: Take
  readonly settle: (problem: unknown) => void
}

/**
 * Counts new objects against quotas. Those that come while a quota is written are counted in its next write, all in one, as in Kubernetes
 * (`quotaEvaluator` of `apiserver/pkg/admission/plugin/resourcequota`): writes of their own would conflict with each other.
 */
export class QuotaCounts {
  readonly #client: ControllerClient
  /** By quota, of which one write runs at a time. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(client: ControllerClient) {
    this.#client = client
  }

  /** Resolves when the quota is written, and rejects with what `take` throws. */
  take(quota: ObjectKey, take: Take): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (problem: unknown): void => (problem === undefined ? resolve() : reject(problem))
      const id = `${quota.cluster}/${quota.namespace}/${quota.name}`
      const waiting = this.#waiting.get(id)
      if (waiting !== undefined) return void waiting.push({ take, settle })
      this.#waiting.set(id, [{ take, settle }])
      void this.#count(id, quota)
    })
  }

  async #count(id: string, quota: ObjectKey): Promise<void> {
    for (let all = this.#waiting.get(id) ?? []; all.length > 0; all = this.#waiting.get(id) ?? []) {
      this.#waiting.set(id, [])
      await this.#write(quota, all)
    }
    this.#waiting.delete(id)
  }

  async #write(quota: ObjectKey, all: readonly Waiting[]): Promise<void> {
    let problems: readonly unknown[] = []
    const change = (current: KubeObject): KubeObject => {
      const taken = takeAll(current, all)
      problems = taken.problems
      return taken.quota
    }
    try {
      await updateStatus(this.#client, resources.resourceQuotas, quota, change)
    } catch (error) {
      for (const { settle } of all) settle(error)
      return
    }
    for (const [i, { settle }] of all.entries()) settle(problems[i])
  }
}

/** In the order in which they came; the problem of each that was not counted. */
function takeAll(
  quota: KubeObject,
  all: readonly Waiting[],
): { readonly quota: KubeObject; readonly problems: readonly unknown[] } {
  let next = quota
  const problems = all.map(({ take }): unknown => {
    try {
      next = take(next)
      return undefined
    } catch (error) {
      return error
    }
  })
  return { quota: next, problems }
}
