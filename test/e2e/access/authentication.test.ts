import { discard } from '../../support/oriel.ts'
import { afterChanges } from './authentication/changes.suite.ts'
import { byIssuers } from './authentication/issuers.suite.ts'
import { byProxiesAndCertificates } from './authentication/proxies.suite.ts'
import { openScene, type Scene } from './authentication/scene.ts'

describe('authenticated users', function () {
  this.timeout(120_000)
  const scene = {} as Scene
  before(async () => void Object.assign(scene, await openScene()))
  after(async () => {
    await discard(scene.oriel)
    scene.hook.close()
    await Promise.all([scene.company.stop(), scene.team.stop()])
  })

  byIssuers(scene)
  byProxiesAndCertificates(scene)
  afterChanges(scene)
})
