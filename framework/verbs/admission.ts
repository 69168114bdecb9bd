import { type AdmissionAttributes, admissionChain, inOneVersion, optionsFor } from '../contract/admission.ts'
import type { DeleteOptions, WriteOptions } from '../contract/storage.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { Call } from './call.ts'

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
