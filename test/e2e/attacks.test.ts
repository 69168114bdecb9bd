import { discard } from '../support/oriel.ts'
import { reachesOtherClusters } from './attacks/clusters.ts'
import { becomesNobodyElse } from './attacks/identities.ts'
import { type Lair, openLair } from './attacks/lair.ts'
import { asProvider } from './attacks/provider.ts'
import { doesNotStopTheServer } from './attacks/server.ts'
import { takesNothingFromTheSystem } from './attacks/system.ts'
import { isShownNothingOfOthers, putsNothingIntoViews } from './attacks/views.ts'

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
  takesNothingFromTheSystem(scene)
  doesNotStopTheServer(scene)
})
