import { commits, values } from './commits.ts'
import type { Opened, OpenStore } from './opened.ts'
import { compaction, ranges } from './reading.ts'
import { watches } from './watches.ts'

/** What every `Store` promises. */
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
