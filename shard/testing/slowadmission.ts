import type { AdmissionAttributes } from '../../framework/contract/admission.ts'
import type { RegistryPlugin } from '../admission/chain.ts'
import { until } from './shard.ts'

/** An admission plugin that is as slow as a webhook: it holds requests to these resources until `goOn`. */
export class SlowAdmission {
  readonly plugin: RegistryPlugin
  #release: (() => void) | undefined
  #isOpen = false

  constructor(resources: readonly string[], operation: AdmissionAttributes['operation'] = 'CREATE') {
    this.plugin = {
      name: 'slow',
      handles: { operations: [operation] },
      validate: async (_ctx, { resource }) => {
        if (this.#isOpen || !resources.includes(resource)) return
        await new Promise<void>(resolve => {
          this.#release = resolve
        })
      },
    }
  }

  /** Resolves when it holds a request. */
  async holds(): Promise<void> {
    await until(() => this.#release)
  }

  /** It holds no request any more. */
  open(): void {
    this.#isOpen = true
    this.goOn()
  }

  goOn(): void {
    this.#release?.()
    this.#release = undefined
  }
}
