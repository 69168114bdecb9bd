import type { RegistryPlugin } from '../admission/chain.ts'
import { until } from './shard.ts'

/** An admission plugin that is as slow as a webhook: it holds creations of these resources until `goOn`. */
export class SlowAdmission {
  readonly plugin: RegistryPlugin
  #release: (() => void) | undefined

  constructor(...resources: readonly string[]) {
    this.plugin = {
      name: 'slow',
      handles: { operations: ['CREATE'] },
      validate: async (_ctx, { resource }) => {
        if (!resources.includes(resource)) return
        await new Promise<void>(resolve => {
          this.#release = resolve
        })
      },
    }
  }

  /** Resolves when it holds a creation. */
  async holds(): Promise<void> {
    await until(() => this.#release)
  }

  goOn(): void {
    this.#release?.()
    this.#release = undefined
  }
}
