import { parseQuantity } from '../../framework/formats/quantity.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { type ErrorSteps, itemErrors } from '../../framework/meta/errorsteps.ts'
import { invalidValue, required } from '../../framework/meta/fielderror.ts'
import { qualifiedNameErrors } from '../../framework/meta/names.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

/** Quantities by the names of resources, as they were sent. */
export type Quantities = Readonly<Record<string, unknown>>

export interface Quota extends KubeObject {
  readonly spec?: {
    readonly hard?: Quantities
    readonly scopes?: readonly string[] | null
    readonly scopeSelector?: { readonly matchExpressions?: readonly Requirement[] | null } | null
  }
  readonly status?: { readonly hard?: Quantities; readonly used?: Quantities }
}

interface Requirement {
  readonly scopeName?: string
  readonly operator?: string
  readonly values?: readonly string[] | null
}

const counted = new Set([
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
])
const measured = new Set(
  ['cpu', 'memory', 'ephemeral-storage'].flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
)
const limited = (name: string): boolean =>
  counted.has(name) ||
  measured.has(name) ||
  name === 'requests.storage' ||
  name.startsWith('requests.hugepages-') ||
  name.startsWith('hugepages-')

/** `ValidateResourceQuota` and `ValidateResourceQuotaUpdate` of Kubernetes. */
export function* quotaErrors(object: KubeObject, old?: KubeObject): ErrorSteps {
  const { hard = {}, scopes, scopeSelector } = (object as Quota).spec ?? {}
  const before = (old as Quota | undefined)?.spec?.scopes
  return [
    ...(yield* quantityErrors(hard, 'spec.hard')),
    ...scopeErrors(scopes ?? [], hard),
    ...(scopeSelector ? yield* selectorErrors(scopeSelector, hard) : []),
    ...(old && !sameNames(scopes, before)
      ? [invalidValue('spec.scopes', scopes ?? null, 'field is immutable')]
      : []),
  ]
}

const podScopes = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass'] as const
const forPods = new Set([
  ...['pods', 'cpu', 'memory'],
  ...['requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'],
])

/** The standard resources that each scope fits. */
const scopedResources: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...podScopes.map(scope => [scope, forPods] as const),
  ['CrossNamespacePodAffinity', forPods],
  ['BestEffort', new Set(['pods'])],
  ['VolumeAttributesClass', new Set(['persistentvolumeclaims', 'requests.storage'])],
])

const conflicting = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

/** One error of each problem: Kubernetes repeats it for each scope and each resource, with all scopes as its value. */
function scopeErrors(scopes: readonly string[], hard: Quantities): readonly FieldError[] {
  const names = new Set(scopes)
  const unknown = scopes.some(scope => !scopedResources.has(scope)) ? ['unsupported scope'] : []
  return [...unknown, ...togetherErrors(names, hard)].map(problem =>
    invalidValue('spec.scopes', scopes, problem),
  )
}

/** Problems of scopes with the resources, and with each other. */
function togetherErrors(scopes: ReadonlySet<string>, hard: Quantities): readonly string[] {
  const standard = Object.keys(hard).filter(limited)
  const isUnfit = (scope: string, fit: ReadonlySet<string>): boolean =>
    scopes.has(scope) && standard.some(name => !fit.has(name))
  return [
    ...([...scopedResources].some(([scope, fit]) => isUnfit(scope, fit))
      ? ['unsupported scope applied to resource']
      : []),
    ...conflicting.filter(pair => pair.every(scope => scopes.has(scope))).map(() => 'conflicting scopes'),
  ]
}

function* selectorErrors(
  selector: NonNullable<NonNullable<Quota['spec']>['scopeSelector']>,
  hard: Quantities,
): ErrorSteps {
  const path = 'spec.scopeSelector.matchExpressions'
  const requirements = selector.matchExpressions ?? []
  const names = new Set(requirements.map(({ scopeName = '' }) => scopeName))
  return [
    ...(yield* itemErrors(requirements, requirement => requirementErrors(requirement, path))),
    ...togetherErrors(names, hard).map(problem => invalidValue(path, selector, problem)),
  ]
}

const valued = new Set(['PriorityClass', 'VolumeAttributesClass'])
const mustExist =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"

function requirementErrors(requirement: Requirement, path: string): readonly FieldError[] {
  const { scopeName = '', operator } = requirement
  const known = scopedResources.has(scopeName)
  return [
    ...(known ? [] : [invalidValue(`${path}.scopeName`, scopeName, 'unsupported scope')]),
    ...(known && !valued.has(scopeName) && operator !== 'Exists'
      ? [invalidValue(`${path}.operator`, operator, mustExist)]
      : []),
    ...operatorErrors(requirement, path),
  ]
}

function operatorErrors({ operator = '', values }: Requirement, path: string): readonly FieldError[] {
  const some = (values ?? []).length > 0
  const about = (operators: string): string => `when \`operator\` is ${operators} for scope selector`
  if (operator === 'In' || operator === 'NotIn')
    return some ? [] : [required(`${path}.values`, `must be at least one value ${about("'In' or 'NotIn'")}`)]
  if (operator === 'Exists' || operator === 'DoesNotExist')
    return some
      ? [invalidValue(`${path}.values`, values, `must be no value ${about("'Exist' or 'DoesNotExist'")}`)]
      : []
  return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')]
}

function sameNames(a?: readonly string[] | null, b?: readonly string[] | null): boolean {
  const [left, right] = [new Set(a), new Set(b)]
  return left.size === right.size && [...left].every(name => right.has(name))
}

/** `ValidateResourceQuotaStatusUpdate` of Kubernetes. */
export function* quotaStatusErrors(object: KubeObject): ErrorSteps {
  const { hard, used } = (object as Quota).status ?? {}
  return [...(yield* quantityErrors(hard, 'status.hard')), ...(yield* quantityErrors(used, 'status.used'))]
}

const quantityErrors = (quantities: Quantities = {}, path: string): ErrorSteps =>
  itemErrors(
    Object.entries(quantities).sort(([a], [b]) => (a < b ? -1 : 1)),
    ([name, value]) => limitErrors(name, String(value), `${path}[${name}]`),
  )

function limitErrors(name: string, value: string, path: string): readonly FieldError[] {
  const quantity = parseQuantity(value)
  const nanos = typeof quantity === 'string' ? 0n : quantity.nanos
  const invalid = (what: string, problem: string): FieldError => invalidValue(path, what, problem)
  return [
    ...nameErrors(name).map(problem => invalid(name, problem)),
    ...(nanos < 0n ? [invalid(value, 'must be greater than or equal to 0')] : []),
    ...(isCount(name) && nanos % 1_000_000_000n !== 0n ? [invalid(value, 'must be an integer')] : []),
  ]
}

function nameErrors(name: string): readonly string[] {
  const problems = qualifiedNameErrors(name)
  if (problems.length > 0 || name.includes('/') || limited(name)) return problems
  const standard = name === 'storage' ? [] : ['must be a standard resource type or fully qualified']
  return [...standard, 'must be a standard resource for quota']
}

const isCount = (name: string): boolean =>
  counted.has(name) ||
  (name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.'))
