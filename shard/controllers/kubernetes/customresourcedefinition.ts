import { Pace } from '../../../framework/async/awaitable.ts'
import type { Informer, Informers } from '../../../framework/contract/informer.ts'
import type { ItemEvent } from '../../../framework/contract/item.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import type { ResourceStorage } from '../../../framework/contract/storage.ts'
import { type ClusterName, groupResource, type KubeObject } from '../../../framework/meta/object.ts'
import { systemGroups } from '../../../kcp/apigroups.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import { boundCRDsCluster } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { crdServed, type ResourcesOf } from '../../apis/served.ts'
import type { ClusterContent, Stored } from '../../bindings/content.ts'
import {
  asCrd,
  type CrdStatus,
  type CustomResourceDefinition,
  cleanupFinalizer,
  isEstablished,
  withCondition,
} from '../../registry/crd.ts'
import {
  type ClientOptions,
  type ControllerClient,
  clusterScoped,
  updateObject,
  updateStatus,
  withoutFinalizer,
} from '../client.ts'
import {
  type Controller,
  type ControllerDefinition,
  createController,
  keyFor,
  keyOf,
  parseKey,
} from '../controller.ts'
import { type ContentDeletion, deleteContent, recheck } from '../remaining.ts'
import { AdmissionEnds } from './admissionends.ts'
import { removeLeftovers } from './leftovers.ts'
import { acceptedNames, isWaitingForNames, namingStatus, takenNames } from './naming.ts'

export interface DefinitionControllerDeps {
  readonly client: ControllerClient
  readonly content: ClusterContent
  readonly informers: Informers
  readonly resourcesOf: ResourcesOf
  /** A client like `client` over other storage. */
  readonly clientOver: (backend: ClientOptions['backend']) => ControllerClient
  readonly log: Logger
}

/**
 * Accepts names, establishes definitions, and deletes their custom resources before they are removed
 * (apiextensions-apiserver `pkg/controller/{status,establish,finalizer}`).
 */
export function definitionController(deps: DefinitionControllerDeps): Controller {
  const definitions = deps.informers.for(resources.crds)
  const waiting = definitions.index(({ key, object }) =>
    isWaitingForNames(asCrd(object)) ? [groupKey(key.cluster, object)] : [],
  )
  const taken = takenNames(definitions, deps.informers)
  const inTurn = createTurns()
  const admissionEnds = new AdmissionEnds(deps.content)
  const finalizing: Finalizing = { ...deps, admissionEnds, prepareInTurn: createTurns() }
  const reconcile = async (key: string): Promise<number | undefined> => {
    const { cluster, name } = parseKey(key)
    const object = definitions.get(cluster, '', name)?.object
    if (object === undefined) return undefined
    const crd = asCrd(object)
    if (crd.metadata.deletionTimestamp !== undefined) return finalize(finalizing, cluster, crd)
    if (cluster === boundCRDsCluster) return undefined
    if (!isEstablished(crd)) await removeLeftovers(deps.content, cluster, crd)
    const group = groupKey(cluster, object)
    await inTurn(group, () => writeStatus(deps, cluster, name, now => namingStatus(now, taken(cluster, now))))
    return undefined
  }
  const waitingIn: WaitingIn = (cluster, group) => waiting(keyFor(cluster, group)).map(keyOf)
  return createController(
    {
      name: 'customresourcedefinition',
      reconcile,
      terminating: { content: deps.content, keys: definedBy(definitions) },
      sources: changesOf(deps.informers, waitingIn),
    },
    deps.log,
  )
}

/** The definitions of a group whose names others have. */
type WaitingIn = (cluster: ClusterName, group: string) => readonly string[]

/** Changes of the definition, and of definitions and bindings that may release names that it waits for. */
const changesOf = (informers: Informers, waitingIn: WaitingIn): ControllerDefinition['sources'] => [
  {
    informer: informers.for(resources.crds),
    keys(event) {
      const { item } = event
      if (!releasesNames(event)) return [keyOf(item)]
      return [keyOf(item), ...waitingIn(item.key.cluster, asCrd(item.object).spec.group)]
    },
  },
  {
    informer: informers.for(resources.apiBindings),
    keys: event => boundGroups(event).flatMap(group => waitingIn(event.item.key.cluster, group)),
  },
]

/** Whether others may have names after this change of a definition. */
function releasesNames({ type, item, previous }: ItemEvent): boolean {
  if (type === 'DELETED' || previous === undefined) return type === 'DELETED'
  const kept = new Set(acceptedNames(asCrd(item.object)))
  return acceptedNames(asCrd(previous.object)).some(name => !kept.has(name))
}

/** The groups that a binding has resources of, or had. */
const boundGroups = ({ item, previous = item }: ItemEvent): readonly string[] => {
  const bound = [item, previous].flatMap(({ object }) => (object as APIBinding).status?.boundResources ?? [])
  return [...new Set(bound.map(({ group }) => group))]
}

/** The terminating definition of a removed object. */
const definedBy =
  (definitions: Informer) =>
  ({ resource, item: { cluster } }: Stored): readonly string[] => {
    const name = groupResource(resource.group, resource.resource)
    const crd = definitions.get(cluster, '', name)?.object
    return crd?.metadata.deletionTimestamp === undefined ? [] : [keyFor(cluster, name)]
  }

type Turns = (key: string, work: () => Promise<unknown>) => Promise<void>

/**
 * Works with the same key one after another. The definitions of one group are handled in this way, so that two never get the same
 * name.
 */
function createTurns(): Turns {
  const last = new Map<string, Promise<void>>()
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work).then(() => undefined)
    const settled = turn
      .catch(() => undefined)
      .then(() => void (last.get(key) === settled && last.delete(key)))
    last.set(key, settled)
    return turn
  }
}

const groupKey = (cluster: ClusterName, object: KubeObject): string =>
  keyFor(cluster, asCrd(object).spec.group)

const writeStatus = (
  { client }: DefinitionControllerDeps,
  cluster: ClusterName,
  name: string,
  change: (crd: CustomResourceDefinition) => CrdStatus,
): Promise<KubeObject | undefined> =>
  updateStatus<CustomResourceDefinition>(client, resources.crds, clusterScoped(cluster, name), crd => ({
    ...crd,
    status: change(crd),
  }))

interface Finalizing extends DefinitionControllerDeps {
  readonly admissionEnds: AdmissionEnds
  /**
   * The schemas of a logical cluster are prepared one after another, each in a turn of the event loop of its own: many that take a part
   * of a turn would add up. Others do not wait for them.
   */
  readonly prepareInTurn: Turns
}

/** Deletes the custom resources, but not objects of the system in a system group, then removes the finalizer. */
async function finalize(
  deps: Finalizing,
  cluster: ClusterName,
  crd: CustomResourceDefinition,
): Promise<number | undefined> {
  const { name = '', finalizers = [] } = crd.metadata
  if (!finalizers.includes(cleanupFinalizer)) return undefined
  if (!isInDeletion(crd)) await deps.admissionEnds.end()
  // Each write is an event that comes back here: without an end, if the finalizer cannot be removed.
  if (!isTerminatingFor(crd, [completed, failed]))
    await terminating(deps, cluster, crd, [inProgress, 'CustomResource deletion is in progress'])
  const [resource] = systemGroups.includes(crd.spec.group)
    ? []
    : deps.resourcesOf(crdServed(storageOnly(crd)))
  if (resource !== undefined) {
    const { group, version, names, storage, schema } = resource
    await deps.prepareInTurn(cluster, async () => {
      await new Pace().next()
      await schema.prepare?.()
    })
    // Its finalizer may be removed meanwhile: the objects are those of another definition with its name then.
    const current = deps.informers.for(resources.crds).get(cluster, '', name)?.object
    if (current === undefined || !isSame(crd, current)) return undefined
    const ref = { group, version, resource: names.plural }
    const remaining = await deleteContent(clientOf(storage, deps), cluster, [ref])
    if (remaining.isUnfinished) return 0
    await tellFailure(deps, cluster, crd, remaining)
    if (remaining.instances.size > 0) return recheck
  }
  await terminating(deps, cluster, crd, [completed, 'removed all instances'])
  await updateObject(deps.client, resources.crds, clusterScoped(cluster, name), current =>
    isSame(crd, current) ? withoutFinalizer(current, cleanupFinalizer) : current,
  )
  return undefined
}

/** With the storage version as the only one that is served: its objects are not converted. */
const storageOnly = (crd: CustomResourceDefinition): CustomResourceDefinition => ({
  ...crd,
  spec: { ...crd.spec, versions: crd.spec.versions.map(v => ({ ...v, served: v.storage })) },
})

/** Throws the failure of a deletion. The condition stays while it fails: each write leads to another attempt at once. */
async function tellFailure(
  deps: DefinitionControllerDeps,
  cluster: ClusterName,
  crd: CustomResourceDefinition,
  { failures: [failure] }: ContentDeletion,
): Promise<void> {
  if (failure === undefined) return
  const told = [failed, `could not delete instances: ${failure.message}`] as const
  if (!isTerminatingFor(crd, [failed])) await terminating(deps, cluster, crd, told)
  throw failure
}

const completed = 'InstanceDeletionCompleted'
const inProgress = 'InstanceDeletionInProgress'
const failed = 'InstanceDeletionFailed'

const isTerminatingFor = ({ status }: CustomResourceDefinition, reasons: readonly string[]): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'Terminating' && reasons.includes(reason ?? '')) ===
  true

/** Servers that have admitted new objects have to find that the definition is being deleted before the others are removed. */
const isInDeletion = (crd: CustomResourceDefinition): boolean =>
  isTerminatingFor(crd, [inProgress, failed, completed])

const terminating = (
  deps: DefinitionControllerDeps,
  cluster: ClusterName,
  crd: CustomResourceDefinition,
  [reason, message]: readonly [reason: string, message: string],
): Promise<KubeObject | undefined> =>
  updateStatus<CustomResourceDefinition>(
    deps.client,
    resources.crds,
    clusterScoped(cluster, crd.metadata.name ?? ''),
    current => (isSame(crd, current) ? withTerminating(current, reason, message) : current),
  )

const withTerminating = (
  crd: CustomResourceDefinition,
  reason: string,
  message: string,
): CustomResourceDefinition => ({
  ...crd,
  status: {
    ...crd.status,
    conditions: withCondition(crd.status?.conditions ?? [], {
      type: 'Terminating',
      status: 'True',
      reason,
      message,
    }),
  },
})

const isSame = (a: KubeObject, b: KubeObject): boolean => a.metadata.uid === b.metadata.uid

/** Reads the definition's own objects, also where a binding serves the same resource. */
const clientOf = (storage: ResourceStorage, { clientOver }: DefinitionControllerDeps): ControllerClient =>
  clientOver({ storage: () => storage, apis: () => undefined })
