import { discard, type Oriel } from '../../../support/oriel.ts'
import { actors } from './actors.suite.ts'
import { examples } from './examples.suite.ts'
import { publication } from './publication.suite.ts'
import { type Lifecycle, openLifecycle } from './scene.ts'

export const lifecycleFlows = (bringUp: () => Promise<Oriel>) =>
  function (this: Mocha.Suite): void {
    this.timeout(240_000)
    const scene = {} as Lifecycle
    before(async () => void Object.assign(scene, await openLifecycle(await bringUp())))
    after(async () => {
      for (const child of scene.children) child.kill()
      await discard(scene.oriel)
    })

    publication(scene)
    examples(scene)
    actors(scene)
  }
