import { commits, oneWriter, values } from './commits.suite.ts'
import type { Opened, OpenStore } from './opened.ts'
import { compaction, ranges } from './reading.suite.ts'
import { watches } from './watches.suite.ts'

/** The contract of `Store`. `writers`: whether other processes may write to the same store. */
export function storeContract(name: string, open: OpenStore, writers: 'one' | 'many' = 'one'): void {
  describe(`store contract: ${name}`, () => {
    const scene = {} as Opened
    beforeEach(async () => {
      const opened = await open()
      Object.assign(scene, opened, { base: opened.store.revision })
    })
    afterEach(() => scene.close())

    values(scene)
    commits(scene)
    if (writers === 'one') oneWriter(scene)
    ranges(scene)
    watches(scene)
    compaction(scene)
  })
}
