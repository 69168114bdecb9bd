import { aborted } from '../../framework/async/awaitable.ts'
import {
  type ApiSet,
  apiSetOf,
  defineVirtualWorkspace,
  type Host,
  loopbackContext,
  type WorkspaceFactory,
} from '../../framework/index.ts'
import { apisGroup, resources } from '../../kcp/index.ts'
import { mayRead } from './authorizer.ts'
import { watchBoundSchemas } from './bound.ts'
import { ofConsumer } from './path.ts'
import { schemaStorage } from './storage.ts'
import { versionedStates } from './versions.ts'

const define = defineVirtualWorkspace('apiresourceschema', '/services/apiresourceschema/:consumer', host => {
  const bound = watchBoundSchemas(host)
  let start = 0
  const storage = schemaStorage(
    bound,
    versionedStates(bound, () => start),
  )
  const served = host.backend.apis('*')?.find(apisGroup, 'v1alpha1', 'apiresourceschemas')
  if (served === undefined) throw new Error('the backend serves no apiresourceschemas')
  const apis: ApiSet = apiSetOf([{ ...served, storage, verbs: ['get', 'list', 'watch'], subresources: [] }])
  return {
    apis: ({ consumer }) => (bound.of(consumer).length > 0 ? apis : undefined),
    authorize: ctx => mayRead(host, ctx),
    run: async (ready, signal) => {
      await bound.synced
      start = await versionOf(host, signal)
      ready()
      await aborted(signal)
    },
  }
})

/** The APIResourceSchemas of the exports that a consumer has bound. See README.md beside this file. */
export const apiresourceschema: WorkspaceFactory = host => {
  const view = define(host)
  return { ...view, path: ofConsumer(view.path) }
}

/** The store's version now. */
async function versionOf({ backend, log }: Host, signal: AbortSignal): Promise<number> {
  const ctx = loopbackContext({
    verb: 'list',
    resource: resources.apiResourceSchemas,
    cluster: '*',
    signal,
    log,
  })
  const list = backend.storage(resources.apiResourceSchemas).list(ctx, { cluster: '*', limit: 1 })
  for (;;) {
    const { done, value } = await list.next()
    if (done) return Number(value.resourceVersion)
  }
}
