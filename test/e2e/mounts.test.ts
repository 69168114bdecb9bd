import { toKubernetes } from './mounts/kubernetes.ts'
import { ofAnything, thatGoes } from './mounts/phases.ts'
import { closeMounts, type Mounts, openMounts } from './mounts/scene.ts'
import { toWorkspaces } from './mounts/workspaces.ts'

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
