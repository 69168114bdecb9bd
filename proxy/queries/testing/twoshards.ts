import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { createClient } from '../../../framework/net/client.ts'
import { statusError } from '../../../remote/connection/connection.ts'
import type { Installation } from '../../../testing/index.ts'
import { startInstallation } from '../../../testing/index.ts'
import { tokenOf } from '../../../testing/user.ts'
import { query } from '../../../virtual/query/index.ts'
import { access, binding, configMap, role } from '../../../virtual/query/testing/scene.ts'
import type { ShardPart } from '../part.ts'

const ada = { name: 'ada', groups: ['system:authenticated'] }
const reads = [
  role('ClusterRole', 'reads', ['get', 'list', 'watch']),
  binding('ClusterRole', 'reads', 'reads'),
] as readonly KubeObject[]

/** Two shards in memory, with queries. ada may read the config maps of one, two and three, and not those of the others. */
export class TwoShards {
  readonly #client = createClient({})
  readonly #stop = new AbortController()

  readonly alpha: Installation
  readonly beta: Installation

  private constructor(alpha: Installation, beta: Installation) {
    this.alpha = alpha
    this.beta = beta
  }

  static async start(): Promise<TwoShards> {
    const [alpha, beta] = await Promise.all([
      startInstallation({ plugins: [() => query] }),
      startInstallation({ plugins: [() => query] }),
    ])
    const sized = (name: string, size: string) => configMap(name, { size })
    await alpha.cluster('one', ...access, ...reads, sized('a', '3'), sized('b', '1'))
    await alpha.cluster('secret', sized('hidden', '9'))
    await beta.cluster('two', ...access, ...reads, sized('c', '2'), sized('d', '5'))
    await beta.cluster('three', ...access, ...reads, sized('e', '4'))
    await beta.cluster('private', sized('other', '7'))
    return new TwoShards(alpha, beta)
  }

  /** The parts of a query of ada. */
  parts(at: string, search: string, accept = 'application/json'): readonly ShardPart[] {
    return [['alpha', this.alpha] as const, ['beta', this.beta] as const].map(([shard, { url }]) => ({
      shard,
      ask: async parameters => {
        const asked = new URLSearchParams(search)
        for (const [name, value] of Object.entries({ ...parameters, part: 'true' }))
          if (value === undefined) asked.delete(name)
          else asked.set(name, value)
        const response = await this.#client.request({
          origin: url,
          path: `/services/query/clusters/*${at}?${asked}`,
          headers: { accept, authorization: `Bearer ${tokenOf(ada)}` },
          signal: this.#stop.signal,
        })
        if (response.statusCode === 200) return response
        throw statusError(response.statusCode, await response.body.text())
      },
    }))
  }

  /** Changes a config map of the start. */
  async resize(cluster: string, name: string, size: string): Promise<void> {
    const shard = cluster === 'one' ? this.alpha : this.beta
    const at = `/clusters/${cluster}/api/v1/namespaces/default/configmaps/${name}`
    const admin = shard.as({ name: 'admin', groups: ['system:masters'] })
    const { status, text } = await admin.request(at, { method: 'PATCH', body: { data: { size } } })
    assert.equal(status, 200, text)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#client.destroy()
    await Promise.all([this.alpha.close(), this.beta.close()])
  }
}
