import { isDeepStrictEqual } from 'node:util'
import { groupResource, type KubeObject, type ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { RequestContext } from './context.ts'
import type { SentOptions } from './storage.ts'

/** The versions in which the objects of a kind are served, and the conversion between them. */
export interface KindVersions {
  readonly served: readonly string[]
  /** The same object when it is in that version already. */
  convert(object: KubeObject, version: string): Promise<KubeObject>
  /**
   * An object that admission has patched, decoded as a body in the version. Throws what the decoding of a body throws: a
   * `DecodeError` or a `MissingKindError`, 400, 413 or 422.
   */
  decode(patched: unknown, version: string): Promise<KubeObject>
}

/** The attributes of a kind that is served in one version only, as views serve it. */
export const inOneVersion = (version: string): Pick<AdmissionAttributes, 'version' | 'versions'> => ({
  version,
  versions: {
    served: [version],
    convert: async object => object,
    decode: async object => object as KubeObject,
  },
})

/**
 * One write, after decoding and before storage (`Attributes` of `k8s.io/apiserver/pkg/admission`). The attributes name the
 * object to be stored; the context is the client's request, which may name an object of a view. `old` is absent on
 * CREATE and has its resourceVersion; `object` is absent on DELETE.
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

/** The options of a write for admission: for a patch those of an update, or of a create if it creates the object. */
export const optionsFor = (
  operation: AdmissionAttributes['operation'],
  sent: SentOptions | undefined,
): Pick<AdmissionAttributes, 'options'> => {
  if (sent === undefined) return {}
  if (operation === 'DELETE') return { options: sent }
  return { options: { ...sent, kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions' } }
}

/** The functions of a plugin that change writes (`admission.MutationInterface` of `k8s.io/apiserver`). */
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

/** The function of a plugin that refuses writes after all changes (`admission.ValidationInterface` of `k8s.io/apiserver`). */
export interface ValidationInterface<P extends Params = Params> {
  validate?(ctx: RequestContext<P>, attributes: AdmissionAttributes): void | Promise<void>
}

/** Operations and resources, named `<plural>.<group>` (`<plural>` for core); absent: all of them. */
export interface Handles {
  readonly operations?: readonly AdmissionAttributes['operation'][]
  readonly resources?: readonly string[]
  /** Whether the plugin has work for a write, such as policies in its logical cluster. Must return from memory. */
  readonly when?: (attributes: AdmissionAttributes) => boolean
}

/**
 * An admission plugin of a view or of a shard. Throws a `StatusError` to refuse a write, usually `forbidden`:
 *
 * ```ts
 * const immutable: AdmissionPlugin = {
 *   handles: { operations: ['UPDATE'], resources: ['widgets.example.com'] },
 *   validate: (_ctx, { group, resource, key }) => {
 *     throw forbidden({ group, resource, name: key.name }, 'widgets cannot be changed')
 *   },
 * }
 * ```
 */
export interface AdmissionPlugin<P extends Params = Params>
  extends MutationInterface<P>,
    ValidationInterface<P> {
  /** Identifies the plugin in the `ReinvocationContext`. */
  readonly name?: string
  /** The writes for which the plugin is called; absent: all (`Handles` of `admission.Interface`, with resources). */
  readonly handles?: Handles
}

/** Plugins in order: `mutate` gives each one the result of the one before, `validate` stops at the first refusal. */
export interface AdmissionChain {
  mutate(ctx: RequestContext, attributes: WriteAttributes): Promise<KubeObject>
  admitDeletion(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
  validate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
}

/** The plugins with a function that handle a write, in order. */
export function handling<T extends AdmissionPlugin>(
  plugins: readonly T[],
  step: Exclude<keyof T, 'name' | 'handles'>,
  attributes: AdmissionAttributes,
): readonly T[] {
  const name = groupResource(attributes.group, attributes.resource)
  return plugins.filter(
    plugin => plugin[step] !== undefined && handles(plugin.handles ?? {}, name, attributes),
  )
}

/** `when` is last: it may search policies. */
const handles = ({ operations, resources, when }: Handles, name: string, attributes: AdmissionAttributes) =>
  (operations?.includes(attributes.operation) ?? true) &&
  (resources?.includes(name) ?? true) &&
  (when?.(attributes) ?? true)

/** Runs plugins as `k8s.io/apiserver/pkg/admission` does (`chain.go`, `plugin/webhook/generic` and `reinvocation.go`). */
export const admissionChain = (plugins: readonly AdmissionPlugin[]): AdmissionChain => ({
  async mutate(ctx, attributes) {
    const reinvocation = new ReinvocationContext()
    const concerned = handling(plugins, 'mutate', attributes)
    let { object } = attributes
    do {
      for (const plugin of concerned)
        if (plugin.mutate) object = await plugin.mutate(ctx, { ...attributes, object }, reinvocation)
    } while (reinvocation.again())
    return object
  },
  async admitDeletion(ctx, attributes) {
    for (const plugin of handling(plugins, 'admitDeletion', attributes))
      await plugin.admitDeletion?.(ctx, attributes)
  },
  async validate(ctx, attributes) {
    for (const plugin of handling(plugins, 'validate', attributes)) await plugin.validate?.(ctx, attributes)
  },
})

/** The name in the request: '' if the name will be generated, and for deletecollection. */
export const requestedName = ({ key, isOneOfMany }: AdmissionAttributes): string =>
  isOneOfMany === true ? '' : key.name

/** The name of the object in a refusal: its name, else generateName, else `Unknown` (rules.md 2.57). */
export const refusedName = (attributes: AdmissionAttributes): string =>
  requestedName(attributes) || attributes.object?.metadata.generateName || 'Unknown'

/**
 * The passes of one write through mutating admission (`admission.ReinvocationContext` of `k8s.io/apiserver`). If a
 * webhook or policy changed the object, a second and last pass calls those with `reinvocationPolicy: IfNeeded` again.
 */
export class ReinvocationContext {
  readonly #plugins = new Map<string, ReinvokedHooks>()
  #isReinvoke = false
  #shouldReinvoke = false

  /** Whether this is the second pass. */
  get isReinvoke(): boolean {
    return this.#isReinvoke
  }

  /** Begins the second pass if a plugin requested it; false without a second pass. */
  again(): boolean {
    const begins = this.#shouldReinvoke && !this.#isReinvoke
    this.#isReinvoke ||= begins
    return begins
  }

  setShouldReinvoke(): void {
    this.#shouldReinvoke = true
  }

  /** The hooks of one plugin, kept from the first pass to the second. */
  of(plugin: string): ReinvokedHooks {
    const known = this.#plugins.get(plugin) ?? new ReinvokedHooks(this)
    this.#plugins.set(plugin, known)
    return known
  }
}

/** The webhooks or policies that one plugin calls, by keys that the plugin chooses. */
export class ReinvokedHooks {
  readonly #context: ReinvocationContext
  /** Called so far, with `reinvocationPolicy: IfNeeded`. */
  readonly #willing = new Set<string>()
  /** Called again in the second pass, because the object has changed since their call. */
  readonly #due = new Set<string>()
  #left: KubeObject | undefined

  constructor(context: ReinvocationContext) {
    this.#context = context
  }

  /** Called before the plugin sees the object, which other plugins may have changed since `leave`. */
  enter(object: KubeObject): void {
    if (this.#context.isReinvoke && !isDeepStrictEqual(this.#left, object)) this.#recall()
  }

  /** Whether a hook is called in this pass. */
  asks(key: string): boolean {
    return !this.#context.isReinvoke || this.#due.has(key)
  }

  /** Records the call of a hook. `changed`: it changed the object; `willing`: it may be called again. */
  asked(key: string, { changed, willing }: { readonly changed: boolean; readonly willing: boolean }): void {
    if (changed) this.changed()
    if (willing) this.#willing.add(key)
  }

  /** Records a change of the object: all willing hooks so far are called again. */
  changed(): void {
    this.#recall()
    this.#context.setShouldReinvoke()
  }

  leave(object: KubeObject): void {
    this.#left = object
  }

  #recall(): void {
    for (const key of this.#willing) this.#due.add(key)
    this.#willing.clear()
  }
}
