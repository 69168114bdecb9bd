import { type ManagedEndpoint, trackUpdate, zeroValue } from '../apply/fieldmanager.ts'
import { type FieldSet, recursiveDifference, setOfFields } from '../apply/fieldpath/fieldset.ts'
import type { VersionTypes } from '../apply/otherversion.ts'
import { typeOf } from '../apply/typed/types.ts'
import { type Awaitable, after, nowOrInTurns, Pace } from '../async/awaitable.ts'
import { type AdmissionAttributes, admissionChain, inOneVersion, optionsFor } from '../contract/admission.ts'
import type { ApiResource, Served } from '../contract/apis.ts'
import type { DeleteOptions, WriteOptions } from '../contract/storage.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import {
  apiVersionOf,
  groupIn,
  type KubeObject,
  type ObjectKey,
  timestamp,
  versionIn,
} from '../meta/object.ts'
import { wholeSchema } from '../meta/objectmeta.ts'
import type { Call, VerbScope } from './call.ts'

/** Fields that an endpoint resets, so that no manager owns them through it (rules.md 5.51k). */
const status = setOfFields(['status'])
const allButStatus = setOfFields(['metadata'], ['spec'])

function resetFields({ resource, subresource }: Served): FieldSet {
  const own = resource.resetFields?.[subresource]
  if (own !== undefined) return setOfFields(...own)
  if (subresource !== '') return allButStatus
  return resource.subresources.some(each => each.name === 'status') ? status : setOfFields()
}

const integer: MergeSchema = { type: 'integer' }

/** `autoscaling/v1 Scale`: its replicas have owners, which storages copy to the object. */
const scaleSchema = wholeSchema({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { replicas: integer }, default: {} },
    status: { type: 'object', properties: { replicas: integer, selector: { type: 'string' } }, default: {} },
  },
})

function scaleEndpoint({ group, version, kind, subresource }: Served): ManagedEndpoint {
  const apiVersion = apiVersionOf(group, version)
  const type = typeOf(scaleSchema)
  return {
    apiVersion,
    kind,
    subresource,
    type,
    versions: other => (other === apiVersion ? type : undefined),
    filter: fields => fields,
    zero: { ...zeroValue(scaleSchema), apiVersion, kind, metadata: {} },
  }
}

/**
 * The endpoint of a call for field management. undefined for subresources with objects of another kind, which have no
 * managed fields.
 */
export function endpointOf({ ctx, served, scope }: Call): ManagedEndpoint | undefined {
  const { group, version, kind, resource, subresource } = served
  if (subresource === 'scale') return scaleEndpoint(served)
  if (kind !== resource.names.kind || group !== resource.group) return undefined
  const schema = wholeSchema(resource.openapi)
  const reset = resetFields(served)
  const apiVersion = apiVersionOf(group, version)
  const zero = resource.custom ? {} : zeroValue(schema)
  return {
    apiVersion,
    kind,
    subresource,
    type: typeOf(schema),
    versions: versionsOf(resource, scope),
    ...conversionOf({ ctx, served }),
    filter: fields => recursiveDifference(fields, reset),
    zero: { ...zero, apiVersion, kind, metadata: {} },
  }
}

function conversionOf({ ctx, served }: Pick<Call, 'ctx' | 'served'>): Pick<ManagedEndpoint, 'convert'> {
  const { convert } = served.resource
  if (convert === undefined) return {}
  return {
    async convert(object, apiVersion) {
      // A webhook may take 30 seconds for each version.
      ctx.signal.throwIfAborted()
      return convert(object as KubeObject, versionIn(apiVersion))
    },
  }
}

/** The types of the versions. */
const versionsOf =
  ({ group, version, openapi }: ApiResource, scope: VerbScope): VersionTypes =>
  apiVersion => {
    if (apiVersion === apiVersionOf(group, version)) return typeOf(wholeSchema(openapi))
    const other = groupIn(apiVersion) === group ? scope.atVersion(versionIn(apiVersion)) : undefined
    return other && typeOf(wholeSchema(other.openapi))
  }

/**
 * The object to store with its managedFields updated: once per write, after the view's admission and before the
 * storage's, as `FieldManager.UpdateNoErrors` in the create, update and patch handlers of `k8s.io/apiserver`. `live` is
 * absent on create.
 */
export function tracked(
  call: Call,
  manager: string,
  next: KubeObject,
  live?: KubeObject,
): Awaitable<KubeObject> {
  const endpoint = endpointOf(call)
  if (endpoint === undefined || call.served.resource.keepsSystemFields?.(next)) return next
  const sent = call.served.resource.custom ? withoutEmptyList(next) : next
  const made = nowOrInTurns(trackUpdate(endpoint, { manager, time: timestamp() }, sent, live), new Pace())
  return endpoint.convert === undefined ? made : after(made, object => unlessEnded(call, object))
}

/** The object. Throws when the request has ended and it has lost its owners: its conversions failed for that. */
function unlessEnded({ ctx }: Call, object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) ctx.signal.throwIfAborted()
  return object
}

/** Empty managedFields of a custom resource are the same as none. */
function withoutEmptyList(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  return managedFields?.length === 0 ? { ...object, metadata } : object
}

/** One object on its way to storage: `old` is absent on CREATE. */
export interface ViewWrite {
  readonly key: ObjectKey
  readonly object: KubeObject
  readonly old?: KubeObject
  readonly write: WriteOptions
}

/** Runs the view's admission: all mutation, then all validation. Returns the object to store. */
export async function admitWrite(call: Call, { key, object, old, write }: ViewWrite): Promise<KubeObject> {
  const { ctx, scope } = call
  if (scope.admission.length === 0) return object
  const chain = admissionChain(scope.admission)
  const operation = old === undefined ? 'CREATE' : 'UPDATE'
  const attributes = { ...attributesOf(call, operation, key, write), ...(old && { old }) }
  const mutated = await chain.mutate(ctx, { ...attributes, object })
  await chain.validate(ctx, { ...attributes, object: mutated })
  return mutated
}

/** Runs the view's admission for a DELETE of the object `old`. */
export async function admitDeletion(
  call: Call,
  key: ObjectKey,
  old: KubeObject,
  options: DeleteOptions,
): Promise<void> {
  const { ctx, scope } = call
  if (scope.admission.length === 0) return
  const chain = admissionChain(scope.admission)
  const attributes = { ...attributesOf(call, 'DELETE', key, options), old }
  await chain.admitDeletion(ctx, attributes)
  await chain.validate(ctx, attributes)
}

const attributesOf = (
  { info, served: { resource, subresource } }: Call,
  operation: AdmissionAttributes['operation'],
  key: ObjectKey,
  { dryRun, asSent }: WriteOptions | DeleteOptions,
): AdmissionAttributes => ({
  operation,
  group: resource.group,
  resource: resource.names.plural,
  ...inOneVersion(resource.version),
  subresource,
  key,
  ...(info.verb === 'deletecollection' && { isOneOfMany: true }),
  dryRun,
  ...optionsFor(operation, asSent),
})
