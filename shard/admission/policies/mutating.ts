import type { CostBudget } from '../../../cel/compiled.ts'
import { toJson } from '../../../cel/schema/adapt.ts'
import { type CelValue, isList, itemsOf, StructValue } from '../../../cel/values/value.ts'
import { merge } from '../../../framework/apply/typed/merge.ts'
import { atomicPaths } from '../../../framework/apply/typed/tofieldset.ts'
import { type MergeType, TypedError } from '../../../framework/apply/typed/types.ts'
import { validate } from '../../../framework/apply/typed/validate.ts'
import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  type ReinvokedHooks,
  refusedName,
  type WriteAttributes,
} from '../../../framework/contract/admission.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { Steps } from '../../../framework/json/json.ts'
import { forbidden, StatusError } from '../../../framework/meta/errors.ts'
import { type KubeObject, versionIn } from '../../../framework/meta/object.ts'
import { applyJsonPatchSteps, readJsonPatch, TestFailed } from '../../../framework/patch/jsonpatch.ts'
import { misnamed } from '../../../openapi/expressions/admission.ts'
import { decodedResult, MalformedResult } from '../patched.ts'
import type { Decisions } from './authorizervariables.ts'
import {
  asVariable,
  conditionsHold,
  evaluated,
  newAllowance,
  requestVariables,
  type Variables,
  withPolicyVariables,
} from './evaluation.ts'
import {
  type Bound,
  decodedParams,
  type Invocation,
  invocationFinder,
  isStrict,
  type PolicyDeps,
} from './invocations.ts'
import { type Subject, subjectIn } from './matching.ts'
import type { CompiledMutation, Policy } from './policy.ts'

const name = 'MutatingAdmissionPolicy'

/** A rejection; the reason '' is Forbidden. */
interface Problem {
  readonly message: string
  readonly reason: string
}

/**
 * MutatingAdmissionPolicies and their bindings; each sees the object as the policies before it changed it
 * (`pkg/admission/plugin/policy/mutating`).
 */
export function mutatingPolicies(deps: PolicyDeps, typeOf: TypeFinder): AdmissionPlugin {
  const find = invocationFinder(deps)
  return {
    name,
    async mutate(ctx, request, reinvocation) {
      const { subject, invocations, decisions } = await find(ctx, request)
      if (invocations.length === 0) return request.object
      const run = new Run({ subject, decisions, hooks: reinvocation.of(name), typeOf })
      return run.all(invocations, request)
    },
  }
}

interface Write {
  readonly subject: Subject
  readonly decisions: Decisions
  readonly hooks: ReinvokedHooks
  readonly typeOf: TypeFinder
}

/** A policy with its decoded parameters, and their binding. */
interface Applied extends Bound, Applying {}

interface Applying extends Pick<Bound, 'policy'> {
  readonly params: CelValue
}

/** The mutation of one request. */
class Run {
  readonly #write: Write
  readonly #problems: Problem[] = []
  readonly #pace = new Pace()
  #hasChanged = false

  constructor(write: Write) {
    this.#write = write
  }

  async all(invocations: readonly Invocation[], request: WriteAttributes): Promise<KubeObject> {
    const { hooks } = this.#write
    const { convert } = request.versions
    let { object } = request
    hooks.enter(object)
    for (const invocation of invocations) object = await this.#invoke(invocation, object)
    object = this.#hasChanged ? await convert(object, versionIn(request.object.apiVersion)) : request.object
    if (this.#hasChanged) hooks.changed()
    hooks.leave(object)
    const [first] = this.#problems
    if (first !== undefined) throw denied(request, first, this.#problems)
    return object
  }

  async #invoke(invocation: Invocation, current: KubeObject): Promise<KubeObject> {
    if ('misconfigured' in invocation) {
      this.#complain(invocation, invocation.misconfigured, '')
      return current
    }
    const { policy, version } = invocation
    const { decisions, hooks, subject: whole } = this.#write
    const params = asVariable(await decodedParams(invocation.params))
    const subject = await subjectIn(withObject(whole, current), version)
    const object = subject.request.object ?? current
    const conditions = await decisions.settled(replays =>
      conditionsHold(
        policy.conditions,
        this.#changing({ policy, params }, subject, object).variables,
        replays,
      ),
    )
    if ('error' in conditions) this.#complain(invocation, conditions.error, 'Invalid')
    const key = keyOf(invocation, invocation.params)
    if ('error' in conditions || !conditions.holds || !hooks.asks(key)) return object
    const result = await this.#mutate({ ...invocation, params }, subject, object)
    const willing = policy.spec.reinvocationPolicy === 'IfNeeded'
    hooks.asked(key, { changed: result !== object, willing })
    return result
  }

  /** A failed mutation changes nothing; the next ones still run. */
  async #mutate(invocation: Applied, subject: Subject, object: KubeObject): Promise<KubeObject> {
    let result = object
    for (const mutation of invocation.policy.mutations) {
      try {
        const changing = this.#changing(invocation, subject, result)
        result = await this.#decoded(await this.#changed(mutation, changing), changing)
        this.#hasChanged = true
      } catch (error) {
        if (!(error instanceof MutationError || error instanceof MalformedResult)) throw error
        this.#complain(invocation, error.message, 'Invalid')
      }
    }
    return result
  }

  /** The object with one mutation of a policy. */
  async #changed(mutation: CompiledMutation, changing: Changing): Promise<KubeObject> {
    const { decisions } = this.#write
    const allowance = newAllowance(decisions.newReplays())
    const variables = withPolicyVariables(changing.policy, changing.variables, allowance)
    const steps = await decisions.settled(() => changeOf(mutation, { ...changing, variables }, allowance))
    return inTurns(steps, this.#pace)
  }

  async #decoded(object: KubeObject, { policy, object: before }: Changing): Promise<KubeObject> {
    if (object === before) return before
    const { versions } = this.#write.subject.request
    return decodedResult({ object, before, versions, who: `${name} ${policy.name}` }, this.#pace)
  }

  #changing({ policy, params }: Applying, subject: Subject, object: KubeObject): Changing {
    const { decisions, typeOf } = this.#write
    const current = withObject(subject, object)
    const variables = { ...requestVariables(current), ...decisions.variables, params }
    return { policy, object, variables, type: typeOf({ ...current.request, object }) }
  }

  #complain({ policy, name: binding }: Bound, why: string, reason: string): void {
    if (!isStrict(policy)) return
    const message = `policy '${policy.name}' with binding '${binding}' denied request: ${why}`
    this.#problems.push({ message, reason })
  }
}

const withObject = (subject: Subject, object: KubeObject): Subject => ({
  ...subject,
  request: { ...subject.request, object },
})

const keyOf = ({ policy, name: binding }: Bound, params: Item | undefined): string =>
  [policy.name, binding, params?.key.namespace ?? '', params?.key.name ?? ''].join('/')

/** 403 with any reason, with all errors as causes. */
function denied(
  request: AdmissionAttributes,
  { message, reason }: Problem,
  problems: readonly Problem[],
): StatusError {
  const { group, resource } = request
  const { status } = forbidden({ group, resource, name: refusedName(request) }, message)
  const causes = problems.map(problem => ({ message: problem.message }))
  return new StatusError(403, reason || 'Forbidden', message, { ...status.details, causes })
}

/** The schema by which the objects of a request are merged. Throws 503 for an unknown kind. */
export type TypeFinder = (request: WriteAttributes) => MergeType

/** A failed mutation with the message of Kubernetes. */
class MutationError extends Error {}

/** The input of a mutation. */
interface Changing {
  readonly policy: Policy
  readonly object: KubeObject
  /** Those of the request with the current object, and of the policy where its mutations are evaluated. */
  readonly variables: Variables
  readonly type: MergeType
}

/** The object with one mutation of a policy, in steps. They, too, throw a `MutationError`. */
function changeOf(
  { type, expression }: CompiledMutation,
  changing: Changing,
  allowance: CostBudget,
): Steps<KubeObject> {
  const result = evaluated(expression, changing.variables, allowance)
  if ('error' in result) throw new MutationError(result.error)
  return type === 'JSONPatch' ? patched(changing, result.value) : applied(changing, result.value)
}

function checkNames(value: CelValue | undefined): void {
  const problems = value instanceof StructValue ? misnamed(value) : []
  if (problems.length > 0) throw new MutationError(`type mismatch: ${problems.join('\n')}`)
}

/** A patch whose `test` fails leaves the object as it is. */
function* patched({ object }: Changing, list: CelValue): Steps<KubeObject> {
  const operations = isList(list) ? [...itemsOf(list)].map(operationOf) : []
  try {
    return (yield* applyJsonPatchSteps(object, readJsonPatch(operations))) as KubeObject
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

/** Merges as server-side apply does, without owners of fields. */
function* applied({ object, type }: Changing, configuration: CelValue): Steps<KubeObject> {
  checkNames(configuration)
  const { apiVersion, kind } = object
  const config = { ...(jsonOf(configuration) as object), apiVersion, kind }
  try {
    validate(type, config)
  } catch (error) {
    throw failed('failed to convert patch object to typed object: ', error)
  }
  yield
  const atomics = atomicPaths(type, config)
  if (atomics.length > 0)
    throw failed(
      'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ',
      new TypedError([{ path: '', text: atomics.join(', ') }]),
    )
  yield
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
