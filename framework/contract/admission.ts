import { groupResource, type KubeObject, type ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { RequestContext } from './context.ts'
import { ReinvocationContext } from './reinvocation.ts'
import type { SentOptions } from './storage.ts'

/** The versions in which the objects of a kind are served, and the conversion between them. */
export interface KindVersions {
  readonly served: readonly string[]
  /** The same object when it is in that version already. */
  convert(object: KubeObject, version: string): Promise<KubeObject>
}

/** A kind that is admitted in one version only: views admit what the client sent. */
export const inOneVersion = (version: string): Pick<AdmissionAttributes, 'version' | 'versions'> => ({
  version,
  versions: { served: [version], convert: async object => object },
})

/**
 * One write, after decoding and before storage (`Attributes` of `k8s.io/apiserver/pkg/admission`). The attributes name the
 * object, because the context is the client's request, which may name a view's. `old` is absent on CREATE and has its
 * resourceVersion, `object` is absent on DELETE.
 */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly group: string
  readonly resource: string
  /** The version that the client uses. */
  readonly version: string
  readonly versions: KindVersions
  /** '' for the object itself. */
  readonly subresource: string
  /** `name` is '' until a name is generated from `generateName`. */
  readonly key: ObjectKey
  /** The request deletes a collection and does not name this object. */
  readonly isOneOfMany?: boolean
  readonly dryRun: boolean
  readonly options?: SentOptions
  readonly object?: KubeObject
  readonly old?: KubeObject
}

/** The attributes of a CREATE or UPDATE. */
export type WriteAttributes = AdmissionAttributes & { readonly object: KubeObject }

/** `options` as admission sees them: patches are updates, or creations, to it. */
export const optionsFor = (
  operation: AdmissionAttributes['operation'],
  sent: SentOptions | undefined,
): Pick<AdmissionAttributes, 'options'> => {
  if (sent === undefined) return {}
  if (operation === 'DELETE') return { options: sent }
  return { options: { ...sent, kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions' } }
}

/** What may change a write (`admission.MutationInterface`). */
export interface MutationInterface<P extends Params = Params> {
  /** Returns the object to store, changed or not. Not called for DELETE; called twice for a write that is reinvoked. */
  mutate?(
    ctx: RequestContext<P>,
    attributes: WriteAttributes,
    reinvocation: ReinvocationContext,
  ): KubeObject | Promise<KubeObject>
  /** `mutate` for a DELETE, which has no object to change: called before the validation. */
  admitDeletion?(ctx: RequestContext<P>, attributes: AdmissionAttributes): Promise<void>
}

/** What may refuse a write that is complete (`admission.ValidationInterface`). */
export interface ValidationInterface<P extends Params = Params> {
  validate?(ctx: RequestContext<P>, attributes: AdmissionAttributes): void | Promise<void>
}

/** Operations and resources, named `<plural>.<group>` (`<plural>` for core); absent: all of them. */
export interface Handles {
  readonly operations?: readonly AdmissionAttributes['operation'][]
  readonly resources?: readonly string[]
}

/** One rule, of a view or of a shard. Throws a `StatusError` to refuse, usually `forbidden`. */
export interface AdmissionPlugin<P extends Params = Params>
  extends MutationInterface<P>,
    ValidationInterface<P> {
  /** For plugins that remember something between the two passes of a write. */
  readonly name?: string
  /** The writes that it is called for; absent: all (`Handles` of `admission.Interface`, with resources). */
  readonly handles?: Handles
}

/** Plugins in order: `mutate` gives each one the result of the one before, `validate` stops at the first refusal. */
export interface AdmissionChain {
  mutate(ctx: RequestContext, attributes: WriteAttributes): Promise<KubeObject>
  admitDeletion(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
  validate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
}

/** The plugins that handle a write, in order. */
export function handling<T extends AdmissionPlugin>(
  plugins: readonly T[],
  { operation, group, resource }: AdmissionAttributes,
): readonly T[] {
  const name = groupResource(group, resource)
  return plugins.filter(
    ({ handles: { operations, resources } = {} }) =>
      (operations?.includes(operation) ?? true) && (resources?.includes(name) ?? true),
  )
}

/** Runs plugins as `k8s.io/apiserver/pkg/admission` does (`chain.go`, `plugin/webhook/generic` and `reinvocation.go`). */
export const admissionChain = (plugins: readonly AdmissionPlugin[]): AdmissionChain => ({
  async mutate(ctx, attributes) {
    const reinvocation = new ReinvocationContext()
    const concerned = handling(plugins, attributes)
    let { object } = attributes
    do {
      for (const plugin of concerned)
        if (plugin.mutate) object = await plugin.mutate(ctx, { ...attributes, object }, reinvocation)
    } while (reinvocation.again())
    return object
  },
  async admitDeletion(ctx, attributes) {
    for (const plugin of handling(plugins, attributes)) await plugin.admitDeletion?.(ctx, attributes)
  },
  async validate(ctx, attributes) {
    for (const plugin of handling(plugins, attributes)) await plugin.validate?.(ctx, attributes)
  },
})

/** The name in the request: '' while it is to be generated, and where a collection is deleted. */
export const askedName = ({ key, isOneOfMany }: AdmissionAttributes): string =>
  isOneOfMany === true ? '' : key.name

/** The name of the object in a refusal: its name, else generateName, else `Unknown` (rules.md 2.57). */
export const refusedName = (attributes: AdmissionAttributes): string =>
  askedName(attributes) || attributes.object?.metadata.generateName || 'Unknown'
