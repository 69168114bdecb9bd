import { discard } from '../support/oriel.ts'
import { type People, startWithPeople } from '../support/people.ts'
import { claimsAreWhatIsAccepted } from './apiexport/claims.suite.ts'
import { rightsAreAskedOfEverybody } from './apiexport/rights.suite.ts'
import { createScene, type Scene } from './apiexport/scene.ts'
import { consumersAnswer } from './apiexport/served.suite.ts'

/** The assertions of kcp's `test/e2e/virtual/apiexport`. */
describe('10.13.1 the apiexport view', function () {
  this.timeout(300_000)
  let people: People
  const scene = {} as Scene
  before(async () => {
    people = await startWithPeople()
    Object.assign(scene, createScene(people))
  })
  after(() => discard(people.oriel))

  claimsAreWhatIsAccepted(scene)
  rightsAreAskedOfEverybody(scene)
  consumersAnswer(scene)
})
