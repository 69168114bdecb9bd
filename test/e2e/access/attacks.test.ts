import { discard } from '../../support/oriel.ts'
import { reachesOtherClusters } from './attacks/clusters.suite.ts'
import { becomesNobodyElse } from './attacks/identities.suite.ts'
import { type Lair, openLair } from './attacks/lair.ts'
import { changesNothingOfTheServer } from './attacks/policies.suite.ts'
import { asProvider } from './attacks/provider.suite.ts'
import { doesNotStopTheServer } from './attacks/server.suite.ts'
import { takesNothingFromTheSystem } from './attacks/system.suite.ts'
import { isShownNothingOfOthers, putsNothingIntoViews } from './attacks/views.suite.ts'

describe('an attacker with one workspace', function () {
  this.timeout(120_000)
  const scene = {} as Lair
  before(async () => void Object.assign(scene, await openLair()))
  after(() => discard(scene.oriel))

  reachesOtherClusters(scene)
  becomesNobodyElse(scene)
  isShownNothingOfOthers(scene)
  putsNothingIntoViews(scene)
  asProvider(scene)
  changesNothingOfTheServer(scene)
  takesNothingFromTheSystem(scene)
  doesNotStopTheServer(scene)
})
