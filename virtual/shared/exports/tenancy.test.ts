import { equal } from 'node:assert/strict'
import { type Informer, type Item, type ItemEvent, itemOf } from '../../../framework/index.ts'
import { tenancyExported } from './tenancy.ts'

const tenancy = (identityHash?: string): Item =>
  itemOf(
    {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name: 'tenancy.kcp.io' },
      status: { ...(identityHash && { identityHash }) },
    },
    'root',
  )

/** The exports of `root`, and how many follow them. */
class Exports {
  #current: Item | undefined
  readonly handlers = new Set<(event: ItemEvent) => void>()
  readonly informer = {
    get: () => this.#current,
    onEvent: (handler: (event: ItemEvent) => void) => {
      this.handlers.add(handler)
      if (this.#current !== undefined) handler({ type: 'ADDED', item: this.#current })
      return () => void this.handlers.delete(handler)
    },
  } as unknown as Informer

  set(item: Item): void {
    this.#current = item
    for (const handler of this.handlers) handler({ type: 'MODIFIED', item })
  }
}

describe('waiting for the tenancy export of root', () => {
  it('ends when the export has an identity, and follows the exports no more', async () => {
    const exports = new Exports()
    const exported = tenancyExported(exports.informer)
    exports.set(tenancy())
    equal(exports.handlers.size, 1)
    exports.set(tenancy('hash'))
    await exported
    equal(exports.handlers.size, 0)
  })

  it('ends at once when the export is there', async () => {
    const exports = new Exports()
    exports.set(tenancy('hash'))
    await tenancyExported(exports.informer)
    equal(exports.handlers.size, 0)
  })
})
