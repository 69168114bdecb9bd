import { discard, type Oriel } from '../../../support/oriel.ts'
import { whatIsPublished } from './published.suite.ts'
import { changes, whatIsRefused, whoMayRead } from './refused.suite.ts'
import { openReplication, type Replication } from './scene.ts'

/** The tests of the view, for the embedded and the separate process. */
export const replicationFlows = (start: (args: readonly string[]) => Promise<Oriel>) =>
  function (this: Mocha.Suite): void {
    this.timeout(240_000)
    const scene = {} as Replication
    before(async () => void Object.assign(scene, await openReplication(start)))
    after(() => discard(scene.oriel))

    whatIsPublished(scene)
    whoMayRead(scene)
    whatIsRefused(scene)
    changes(scene)
  }
