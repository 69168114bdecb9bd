import { toJson } from '../../../cel/schema/adapt.ts'
import { type CelValue, isList, itemsOf, StructValue } from '../../../cel/values/value.ts'
import { atomicPaths } from '../../../framework/apply/typed/atomics.ts'
import { merge } from '../../../framework/apply/typed/merge.ts'
import { type MergeType, TypedError } from '../../../framework/apply/typed/types.ts'
import { validate } from '../../../framework/apply/typed/validate.ts'
import type { WriteAttributes } from '../../../framework/contract/admission.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { applyJsonPatch, readJsonPatch, TestFailed } from '../../../framework/patch/jsonpatch.ts'
import { misnamed } from '../../../openapi/expressions/admission.ts'
import { evaluated, newAllowance, type Variables, withPolicyVariables } from './evaluation.ts'
import type { CompiledMutation, Policy } from './policy.ts'

/** How the objects of a request are merged. Throws 503 for a kind that is not known (any more). */
export type TypeFinder = (request: WriteAttributes) => MergeType

/** A change that cannot be made, in the words of Kubernetes. */
export class MutationError extends Error {}

/** One policy on its way to change an object. */
export interface Changing {
  readonly policy: Policy
  readonly object: KubeObject
  /** Of the request with the object as it is now. */
  readonly variables: Variables
  readonly type: MergeType
}

/** The object with one mutation of a policy. Throws a `MutationError`. */
export function changed({ type, expression }: CompiledMutation, changing: Changing): KubeObject {
  const allowance = newAllowance()
  const variables = withPolicyVariables(changing.policy, changing.variables, allowance)
  const result = evaluated(expression, variables, allowance)
  if ('error' in result) throw new MutationError(result.error)
  return type === 'JSONPatch' ? patched(changing, result.value) : applied(changing, result.value)
}

function checkNames(value: CelValue | undefined): void {
  const problems = value instanceof StructValue ? misnamed(value) : []
  if (problems.length > 0) throw new MutationError(`type mismatch: ${problems.join('\n')}`)
}

/** A patch whose `test` fails leaves the object as it is. */
function patched({ object }: Changing, list: CelValue): KubeObject {
  const operations = isList(list) ? [...itemsOf(list)].map(operationOf) : []
  try {
    return applyJsonPatch(object, readJsonPatch(operations)) as KubeObject
  } catch (error) {
    if (error instanceof TestFailed) return object
    if (!(error instanceof StatusError)) throw error
    throw new MutationError(`JSON Patch: ${error.status.details?.causes?.[0]?.message ?? error.message}`)
  }
}

function operationOf(value: CelValue): object {
  const fields = value instanceof StructValue ? value.fields : new Map<string, CelValue>()
  checkNames(fields.get('value'))
  return Object.fromEntries([...fields].map(([name, field]) => [name, jsonOf(field)]))
}

function jsonOf(value: CelValue): unknown {
  const json = toJson(value)
  if (json !== undefined) return json
  throw new MutationError('JSONPath valueExpression evaluated to a type that could not marshal to JSON')
}

/** Merged as by server-side apply, and owned by nobody. */
function applied({ object, type }: Changing, configuration: CelValue): KubeObject {
  checkNames(configuration)
  const { apiVersion, kind } = object
  const config = { ...(jsonOf(configuration) as object), apiVersion, kind }
  try {
    validate(type, config)
  } catch (error) {
    throw failed('failed to convert patch object to typed object: ', error)
  }
  const atomics = atomicPaths(type, config)
  if (atomics.length > 0)
    throw failed(
      'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ',
      new TypedError([{ path: '', text: atomics.join(', ') }]),
    )
  try {
    return merge(type, object, config) as KubeObject
  } catch (error) {
    throw failed('failed to merge patch: ', error)
  }
}

function failed(what: string, error: unknown): unknown {
  return error instanceof TypedError
    ? new MutationError(`error applying patch: ${what}${error.message}`)
    : error
}
