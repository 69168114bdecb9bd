import { commits, values } from './commits.suite.ts'
import type { Opened, OpenStore } from './opened.ts'
import { compaction, ranges } from './reading.suite.ts'
import { watches } from './watches.suite.ts'

/** The contract of `Store`. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    const scene = {} as Opened
    beforeEach(async () => void Object.assign(scene, await open()))
    afterEach(() => scene.close())

    values(scene)
    commits(scene)
    ranges(scene)
    watches(scene)
    compaction(scene)
  })
}
