import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue } from '../../framework/meta/fielderror.ts'
import { qualifiedNameErrors } from '../../framework/meta/names.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { foreignFinalizer } from './metadata.ts'
import { type KindStrategy, withMetadata } from './strategy.ts'

interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string }
}

const kubernetesFinalizer = 'kubernetes'

const specFinalizers = (object: KubeObject): readonly string[] => (object as Namespace).spec?.finalizers ?? []

/** The label with the name; without a name the object is not changed. */
function labelNamespace(object: KubeObject): KubeObject {
  const { name = '', labels } = object.metadata
  return name === ''
    ? object
    : withMetadata(object, { labels: { ...labels, 'kubernetes.io/metadata.name': name } })
}

/** Sets the finalizer, the phase Active and the label with the name (`pkg/registry/core/namespace/strategy.go`). */
function prepareNamespace(object: KubeObject, old?: KubeObject): KubeObject {
  const labelled = labelNamespace(object)
  if (old !== undefined) return { ...labelled, spec: old.spec }
  const finalizers = new Set([...specFinalizers(object), kubernetesFinalizer])
  return { ...labelled, spec: { finalizers: [...finalizers] }, status: { phase: 'Active' } }
}

function finalizerErrors(field: string, name: string): readonly FieldError[] {
  const problems = [...qualifiedNameErrors(name), ...foreignFinalizer(name)]
  return problems.map(problem => invalidValue(field, name, problem))
}

/** The default phase is Active. */
const prepareStatus = (object: KubeObject): KubeObject =>
  labelNamespace({ ...object, status: { phase: 'Active', ...(object as Namespace).status } })

function statusErrors(object: KubeObject): readonly FieldError[] {
  const phase = (object as Namespace).status?.phase
  const isGoing = object.metadata.deletionTimestamp !== undefined
  if (phase === (isGoing ? 'Terminating' : 'Active')) return []
  const text = isGoing
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty"
  return [invalidValue('status.Phase', phase, text)]
}

/** The REST strategy of Namespace, in addition to that of all built-in kinds. */
export const namespaceRules: Partial<KindStrategy> = {
  complete: labelNamespace,
  prepare: prepareNamespace,
  validate: object => specFinalizers(object).flatMap(name => finalizerErrors('spec.finalizers', name)),
  parts: {
    status: { prepare: prepareStatus, validate: statusErrors },
    finalize: {
      prepare: labelNamespace,
      validate: object =>
        specFinalizers(object).flatMap((name, i) => finalizerErrors(`spec.finalizers[${i}]`, name)),
    },
  },
  held: object => specFinalizers(object).length > 0,
  onDelete: object => ({ ...object, status: { ...(object.status as object), phase: 'Terminating' } }),
}
