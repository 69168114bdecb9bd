import { isMembers } from '../../framework/json/json.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { PolicyRule } from './policyrule.ts'
import type { Binding } from './rbacsource.ts'
import type { Subject } from './subjects.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

// Readers of RBAC objects. They take objects that nobody has validated yet: what has the wrong type is not there.

/** `rules` of a Role or ClusterRole. */
export const rulesIn = (object: KubeObject): readonly PolicyRule[] => records(object.rules).map(ruleIn)

/** `roleRef` of a binding as the authorizer needs it; undefined when it names no role. */
export function bindingIn(object: KubeObject): Binding | undefined {
  const ref = record(object.roleRef)
  const kind = ref.kind
  if ((kind !== 'ClusterRole' && kind !== 'Role') || typeof ref.name !== 'string') return undefined
  return { name: object.metadata.name ?? '', role: { kind, name: ref.name } }
}

/** `subjects` of a binding. */
export const subjectsIn = (object: KubeObject): readonly Subject[] =>
  records(object.subjects).map(({ kind, name, namespace }) => ({
    kind: text(kind),
    name: text(name),
    ...(typeof namespace === 'string' ? { namespace } : {}),
  }))

function ruleIn(rule: Fields): PolicyRule {
  return {
    verbs: texts(rule.verbs),
    apiGroups: texts(rule.apiGroups),
    resources: texts(rule.resources),
    resourceNames: texts(rule.resourceNames),
    nonResourceURLs: texts(rule.nonResourceURLs),
  }
}

type Fields = Readonly<Record<string, unknown>>

export const record = (value: unknown): Fields => (isMembers(value) ? value : {})
const records = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isMembers) : [])
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
export const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter(entry => typeof entry === 'string') : []
