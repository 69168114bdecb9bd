import type { Informers } from '../../../framework/contract/informer.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import { boundCRDsCluster } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { boundCopyOf } from '../../bindings/boundschemas.ts'
import type { ClusterContent } from '../../bindings/content.ts'
import { StoreConflict } from '../../store/store.ts'
import type { BindingDependencies } from '../bindingdependencies.ts'
import { type ControllerClient, clusterScoped, ifFound } from '../client.ts'
import { type Controller, createController } from '../controller.ts'

/** Copies the schemas of an export before a binding to it becomes Bound. */
export async function keepSchemas(
  { content, informers }: { readonly content: ClusterContent; readonly informers: Informers },
  { cluster, object }: NonNullable<BindingDependencies['exported']>,
): Promise<void> {
  const schemas = informers.for(resources.apiResourceSchemas)
  const copies = informers.for(resources.crds)
  for (const { schema: name } of object.spec?.resources ?? []) {
    const schema = schemas.get(cluster, '', name)
    if (schema === undefined || copies.get(boundCRDsCluster, '', schema.meta.uid) !== undefined) continue
    await content.add([boundCopyOf(schema)]).catch(unlessThere)
  }
}

function unlessThere(error: unknown): void {
  if (!(error instanceof StoreConflict)) throw error
}

export interface BoundSchemaDeps {
  readonly client: ControllerClient
  readonly informers: Informers
  readonly log: Logger
  readonly isBound: (schemaUid: string) => boolean
}

/** Milliseconds after which an unused copy is deleted; also the interval of the checks. */
const grace = 30 * 60_000

/** Deletes copies of schemas that no binding uses any more (kcp `pkg/reconciler/apis/crdcleanup`). */
export function boundSchemaController(deps: BoundSchemaDeps, age = grace): Controller {
  const { client, informers, log, isBound } = deps
  const copies = informers.for(resources.crds)
  const reconcile = async (uid: string): Promise<number | undefined> => {
    const created = copies.get(boundCRDsCluster, '', uid)?.object.metadata.creationTimestamp
    if (created === undefined) return undefined
    if (isBound(uid)) return age
    const left = Date.parse(created) + age - Date.now()
    if (left > 0) return left
    await ifFound(client.delete(resources.crds, clusterScoped(boundCRDsCluster, uid)))
    return undefined
  }
  return createController(
    {
      name: 'boundschemas',
      reconcile,
      sources: [
        {
          informer: copies,
          keys: ({ item: { key } }) => (key.cluster === boundCRDsCluster ? [key.name] : []),
        },
      ],
    },
    log,
  )
}
