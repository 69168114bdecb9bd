import { howTheyLive } from './workspacetypes/living.suite.ts'
import { whoMakesThem } from './workspacetypes/making.suite.ts'
import { closeTypes, openTypes, type Types } from './workspacetypes/scene.ts'

/** With `KCP_BIN=… npx mocha …` it runs against kcp. */
describe('workspaces and their types', function () {
  this.timeout(300_000)
  const scene = {} as Types
  before(async () => void Object.assign(scene, await openTypes()))
  after(() => closeTypes(scene))

  whoMakesThem(scene)
  howTheyLive(scene)
})
