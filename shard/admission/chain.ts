import { withValidManagedFields } from '../../framework/apply/managed.ts'
import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import {
  type AdmissionAttributes,
  type AdmissionChain,
  type AdmissionPlugin,
  admissionChain,
  handling,
  type WriteAttributes,
} from '../../framework/contract/admission.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

/** An admission plugin that also takes part in what the registry does between mutation and validation. */
export interface RegistryPlugin extends AdmissionPlugin {
  /**
   * Whether the user may grant the permissions in the object (`pkg/registry/rbac/…/policybased`): called after
   * mutation, before the object is validated and its resourceVersion is compared. Not for DELETE.
   */
  permit?(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
  /**
   * Adds fields that are derived from the object to be stored, at every endpoint: for instance labels that mirror the
   * status. Called last, before validation; not for DELETE.
   */
  complete?(attributes: WriteAttributes): KubeObject
}

/** The admission chain of a shard, with the steps of its registry. */
export interface RegistryAdmission extends AdmissionChain {
  permit(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
  complete(attributes: WriteAttributes): KubeObject
}

/** All plugins of a shard. The list may still grow: it is read at each write. */
export function registryAdmission(plugins: readonly RegistryPlugin[]): RegistryAdmission {
  const chain = admissionChain(plugins)
  return {
    ...chain,
    async mutate(ctx, attributes) {
      const object = await chain.mutate(ctx, attributes)
      const warn = (warning: string): void => ctx.record.warn(warning)
      return inTurns(withValidManagedFields(object, attributes.object, warn), new Pace())
    },
    async permit(ctx, attributes) {
      for (const plugin of handling(plugins, 'permit', attributes)) await plugin.permit?.(ctx, attributes)
    },
    complete(attributes) {
      let { object } = attributes
      for (const plugin of handling(plugins, 'complete', attributes))
        object = plugin.complete?.({ ...attributes, object }) ?? object
      return object
    },
  }
}

/**
 * The mutation of the server's own plugins once more, after the plugins of tenants and where one of these handles the write:
 * what a webhook or policy has written into fields of the server is set or refused as if the client had sent it.
 */
export function mutatingAgain(
  own: readonly RegistryPlugin[],
  tenants: readonly RegistryPlugin[],
): readonly RegistryPlugin[] {
  const mayBeChanged = (attributes: AdmissionAttributes): boolean =>
    handling(tenants, 'mutate', attributes).length > 0
  return own.flatMap(({ handles = {}, mutate }) => {
    const when = (attributes: AdmissionAttributes): boolean =>
      (handles.when?.(attributes) ?? true) && mayBeChanged(attributes)
    return mutate === undefined ? [] : [{ handles: { ...handles, when }, mutate }]
  })
}
