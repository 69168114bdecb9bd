import { authorizationParts } from '../../cmd/authorization/authorization.ts'
import { clustersView } from '../../cmd/views/clustersview.ts'
import type { Action, Authorizer } from '../../framework/contract/authorizer.ts'
import { silent } from '../../framework/contract/log.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { createOutbound } from '../../framework/net/outbound.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { bootstrap } from '../../shard/bootstrap/bootstrap.ts'
import { claimsDecorator } from '../../shard/claims/index.ts'
import { openMemoryStore } from '../../shard/store/memory.ts'
import { type TestShard, testShard } from '../../shard/testing/shard.ts'
import { workspaces } from '../../virtual/index.ts'
import { manifestsOf } from './manifests.ts'
import type { Export, World } from './world.ts'

/** The implementation under test: a shard with the objects of a world, its authorizer and its views. */
export interface Served {
  readonly shard: TestShard
  /** All of them, and the view `/clusters/…`. */
  readonly views: readonly VirtualWorkspace[]
  mayPlainly(user: UserInfo, action: Action): Promise<boolean>
  mayThroughView(of: Export, user: UserInfo, action: Action): Promise<boolean>
  /** Through any other view: whether it allows the request. */
  mayIn(view: string, params: Readonly<Record<string, string>>, asked: Asked): Promise<boolean>
  stop(): Promise<void>
}

export interface Asked {
  readonly user: UserInfo
  readonly action: Action
}

const url = 'https://localhost:6443'
const addresses = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

export async function serveWorld(world: World): Promise<Served> {
  const store = openMemoryStore()
  await bootstrap({ store, shard: addresses })
  const { authorizer } = authorizationParts()
  const shard = await testShard({ store, authorizer, decorate: claimsDecorator })
  await shard.content.add(manifestsOf(world, shard.informers))
  const host = { ...shard, outbound: createOutbound({ allow: [] }) }
  const views = [...workspaces, clustersView].map(factory => factory(host))
  const { signal } = new AbortController()
  const mayIn: Served['mayIn'] = async (name, params, asked) => {
    const view = views.find(each => each.name === name)
    return view !== undefined && admits(view, shard.backend.authorizer, { ...asked, params, signal })
  }
  return {
    shard,
    views,
    mayPlainly: async (user, action) =>
      (await shard.backend.authorizer.authorize(user, action, signal)).effect === 'allow',
    mayThroughView: (of, user, action) =>
      mayIn('apiexport', { provider: of.cluster, name: of.name }, { user, action }),
    mayIn,
    async stop() {
      await shard.stop()
      await store.close()
    },
  }
}

interface Asking extends Asked {
  readonly params: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** The checks of the kernel before a view answers. */
async function admits(
  view: VirtualWorkspace,
  authorizer: Authorizer,
  { user, action, params, signal }: Asking,
): Promise<boolean> {
  const { cluster, verb, path = '', resource } = action
  const about = resource === undefined ? { isResource: false } : { isResource: true, ...resource }
  const info = { ...about, verb, path }
  const record = { log: silent, warn: () => undefined, annotate: () => undefined }
  const asking = { workspace: view.name, params, cluster, info, user, actAs: user, hops: 0, signal, record }
  const ctx = { ...asking, actAs: view.actAs?.(asking as never) ?? user } as never
  const isPrivileged = user.groups.includes('system:masters')
  const decision = (await view.authorize?.(ctx)) ?? (await authorizer.authorize(user, action, signal))
  if (!isPrivileged && decision.effect !== 'allow') return false
  try {
    await view.guard?.(ctx)
    return true
  } catch (error) {
    if (error instanceof StatusError) return false
    throw error
  }
}
