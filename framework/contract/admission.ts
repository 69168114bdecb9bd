import { managedProblem } from '../apply/managed.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { RequestContext } from './context.ts'
import { Reinvocation } from './reinvocation.ts'
import type { SentOptions } from './storage.ts'
import type { AdmissionRequest } from './workspace.ts'

/** The versions in which the objects of a kind are served, and how they become each other. */
export interface KindVersions {
  readonly served: readonly string[]
  /** The same object when it is in that version already. */
  convert(object: KubeObject, version: string): Promise<KubeObject>
}

/**
 * A write as the shard's own admission sees it. What is written is named here, because `ctx` is the client's request. Objects
 * that are there already have their resourceVersion.
 */
export interface ShardAdmissionRequest extends AdmissionRequest {
  readonly group: string
  readonly resource: string
  /** That the client uses. */
  readonly version: string
  readonly versions: KindVersions
  /** '' for the object itself. */
  readonly subresource: string
  /** `name` is '' while a generateName waits for its suffix. */
  readonly key: ObjectKey
  /** The client deletes a collection, and has not named this object. */
  readonly isOneOfMany?: boolean
  readonly options?: SentOptions
}

/** The name that the client has asked for. */
export const askedName = ({ key, isOneOfMany }: ShardAdmissionRequest): string =>
  isOneOfMany === true ? '' : key.name

/** One rule. Throws a `StatusError` to refuse. */
export interface AdmissionPlugin {
  readonly name: string
  /** Returns the object to store, changed or not. Not called for DELETE; called twice for some writes. */
  mutate?(
    ctx: RequestContext,
    request: ShardAdmissionRequest & { readonly object: KubeObject },
    passes: Reinvocation,
  ): KubeObject | Promise<KubeObject>
  /** Whether the caller may grant what the object grants: asked before the object is validated, and before its version is
   * looked at. Not for DELETE. */
  permit?(ctx: RequestContext, request: ShardAdmissionRequest): Promise<void>
  /** What follows from the object as it is going to be stored, whichever part of it was written: labels that say the
   * status, for instance. Called last, before validation; not for DELETE. */
  complete?(request: ShardAdmissionRequest & { readonly object: KubeObject }): KubeObject
  /** What `mutate` is for other writes, where there is no object to change: called before the validation of a DELETE. */
  admitDeletion?(ctx: RequestContext, request: ShardAdmissionRequest): Promise<void>
  validate?(ctx: RequestContext, request: ShardAdmissionRequest): void | Promise<void>
}

/** All plugins in order: `mutate` hands each the result of the one before, once or twice; `validate` stops at the first
 * refusal. */
export interface AdmissionChain {
  mutate(
    ctx: RequestContext,
    request: ShardAdmissionRequest & { readonly object: KubeObject },
  ): Promise<KubeObject>
  permit(ctx: RequestContext, request: ShardAdmissionRequest): Promise<void>
  complete(request: ShardAdmissionRequest & { readonly object: KubeObject }): KubeObject
  admitDeletion(ctx: RequestContext, request: ShardAdmissionRequest): Promise<void>
  validate(ctx: RequestContext, request: ShardAdmissionRequest): Promise<void>
}

/** Owners that admission has made unreadable are those from before it (chapter 40, rule 5.59). */
function withGoodOwners(ctx: RequestContext, object: KubeObject, before: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  const known = before.metadata.managedFields
  if (managedFields === known || managedFields === undefined) return object
  const problem = managedProblem(managedFields)
  if (problem === undefined) return object
  ctx.record.warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  )
  return { ...object, metadata: known === undefined ? metadata : { ...metadata, managedFields: known } }
}

export const admissionChain = (plugins: readonly AdmissionPlugin[]): AdmissionChain => ({
  async mutate(ctx, request) {
    const passes = new Reinvocation()
    let { object } = request
    do {
      for (const plugin of plugins)
        if (plugin.mutate) object = await plugin.mutate(ctx, { ...request, object }, passes)
    } while (passes.again())
    return withGoodOwners(ctx, object, request.object)
  },
  async permit(ctx, request) {
    for (const plugin of plugins) await plugin.permit?.(ctx, request)
  },
  complete(request) {
    let { object } = request
    for (const plugin of plugins) object = plugin.complete?.({ ...request, object }) ?? object
    return object
  },
  async admitDeletion(ctx, request) {
    for (const plugin of plugins) await plugin.admitDeletion?.(ctx, request)
  },
  async validate(ctx, request) {
    for (const plugin of plugins) await plugin.validate?.(ctx, request)
  },
})

/** How a refusal names its object: by name, else generateName, else `Unknown` (chapter 40, rule 2.57). */
export function refusedName(request: ShardAdmissionRequest): string {
  return askedName(request) || request.object?.metadata.generateName || 'Unknown'
}
