import { toKubernetes } from './kubernetes.suite.ts'
import { ofAnything, thatGoes } from './phases.suite.ts'
import { closeMounts, type Mounts, openMounts } from './scene.ts'
import { toWorkspaces } from './workspaces.suite.ts'

describe('mounted workspaces', function () {
  this.timeout(180_000)
  const scene = {} as Mounts
  before(async () => void Object.assign(scene, await openMounts()))
  after(() => closeMounts(scene))

  toKubernetes(scene)
  ofAnything(scene)
  toWorkspaces(scene)
  thatGoes(scene)
})
