import { type Action, allow, noOpinion } from '../../../../framework/contract/authorizer.ts'
import type { ResourceRef } from '../../../../framework/contract/backend.ts'
import type { RequestContext } from '../../../../framework/contract/context.ts'
import type { KubeObject } from '../../../../framework/meta/object.ts'
import { isPrivileged, type UserInfo } from '../../../../framework/request/user.ts'
import type { TenancyResources } from '../../../controllers/host.ts'
import { openKcpShard } from '../../../testing/kcpshard.ts'
import type { TestShard } from '../../../testing/shard.ts'

export const alice: UserInfo = { name: 'alice', uid: '7', groups: ['dev'], extra: { team: ['a'] } }
export const bob: UserInfo = { name: 'bob', groups: [] }

/** Alice may bind and use; the system may do everything. */
const authorize = async (user: UserInfo, { verb }: Action) =>
  isPrivileged(user) || (user.name === 'alice' && (verb === 'bind' || verb === 'use'))
    ? allow('')
    : noOpinion('')

const options = { dryRun: false, fieldManager: '' }
export const keyOf = (name: string) => ({ cluster: 'root', namespace: '', name })

export const refusal = (subject: string, text: string) => ({
  code: 403,
  message: `${subject} is forbidden: ${text}`,
})

/** A shard with all admission plugins of kcp. */
export interface Admitting {
  readonly shard: TestShard
  readonly tenancy: TenancyResources
}

/** Opens one for all tests of a suite. */
export function admitting(): Admitting {
  const scene = {} as Admitting
  before(async () => void Object.assign(scene, await openKcpShard({ authorizer: () => ({ authorize }) })))
  after(async () => {
    await scene.shard.stop()
    await scene.shard.store.close()
  })
  return scene
}

export const contextFor = (scene: Admitting, user: UserInfo, ref: ResourceRef): RequestContext => ({
  ...scene.shard.context(ref, 'root'),
  user,
  actAs: user,
})

export async function create(
  scene: Admitting,
  user: UserInfo,
  ref: ResourceRef,
  object: KubeObject,
): Promise<KubeObject> {
  const storage = scene.shard.backend.storage(ref)
  const key = keyOf(object.metadata.name ?? '')
  return (await storage.create(contextFor(scene, user, ref), key, object, options)).object
}

export async function update(
  scene: Admitting,
  user: UserInfo,
  [ref, name]: readonly [ResourceRef, string],
  change: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const storage = scene.shard.backend.storage(ref)
  const item = await storage.update(
    contextFor(scene, user, ref),
    keyOf(name),
    ({ object }) => change(object),
    options,
  )
  return item.object
}
