import { createHash } from 'node:crypto'
import type { Action } from '../../framework/contract/authorizer.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { anonymous, type UserInfo } from '../../framework/request/user.ts'
import type { AuthorizerAttributes } from '../chain/attributes.ts'
import { isServiceAccount } from '../rbac/effectiveusers.ts'
import type { PolicyRule } from '../rbac/policyrule.ts'
import { rbacGroup } from '../rbac/rbacsource.ts'

/**
 * A role with one rule that allows the action, and a binding of it to the subject; in the action's namespace if it
 * has one.
 */
export function roleAndBinding(action: Action, subject: object): readonly KubeObject[] {
  const namespace = action.resource?.namespace ?? ''
  const scope = namespace === '' ? 'Cluster' : ''
  const rule = ruleFor(action)
  const metadata = {
    name: nameOf(rule, subject),
    ...(namespace === '' ? {} : { namespace }),
  }
  const role = { apiVersion, kind: `${scope}Role`, metadata, rules: [rule] }
  return [role, bindingTo({ kind: role.kind, metadata }, subject)]
}

/** A ClusterRoleBinding to the role for access that every workspace has. */
export function accessBinding(subject: object): KubeObject {
  const name = 'system:kcp:workspace:access'
  const metadata = { name: nameOf({ verbs: ['access'], nonResourceURLs: ['/'] }, subject) }
  return bindingTo({ kind: 'ClusterRole', metadata: { name } }, subject, metadata)
}

const apiVersion = `${rbacGroup}/v1`

interface Role {
  readonly kind: string
  readonly metadata: { readonly name: string }
}

const bindingTo = (role: Role, subject: object, metadata: object = role.metadata): KubeObject => ({
  apiVersion,
  kind: role.kind === 'Role' ? 'RoleBinding' : 'ClusterRoleBinding',
  metadata: { ...metadata },
  roleRef: { apiGroup: rbacGroup, kind: role.kind, name: role.metadata.name },
  subjects: [subject],
})

/** The narrowest rule: one verb, one resource or path, and the name of the object when the request has one. */
function ruleFor({ verb, resource, path = '' }: Action): PolicyRule {
  if (resource === undefined) return { verbs: [verb], nonResourceURLs: [path] }
  const { group, subresource, name } = resource
  const what = subresource === '' ? resource.resource : `${resource.resource}/${subresource}`
  const named = name !== '' && (subresource !== '' || !nameless.has(verb))
  const rule = { verbs: [verb], apiGroups: [group], resources: [what] }
  return named ? { ...rule, resourceNames: [name] } : rule
}

const nameless = new Set(['create', 'deletecollection'])

/** A readable name with a hash of the rule and subject. */
function nameOf(rule: PolicyRule, subject: object): string {
  const words = [...rule.verbs, ...(rule.resources ?? ['path'])].join('-').toLowerCase()
  const readable = words
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40)
  const hash = createHash('sha256')
    .update(JSON.stringify([rule, subject]))
    .digest('hex')
    .slice(0, 8)
  return `${readable || 'any'}-${hash}`
}

/**
 * The subject with which a binding refers to the user; undefined for a user out of scope, which only bindings to all
 * users reach.
 */
export function subjectOf({ user, effective: [known] }: AuthorizerAttributes): object | undefined {
  if (known === undefined || (known.name === anonymous.name && user.name !== anonymous.name)) return undefined
  return isServiceAccount(known) ? serviceAccount(known) : userSubject(known)
}

export const userSubject = ({ name }: UserInfo): object => ({ apiGroup: rbacGroup, kind: 'User', name })

function serviceAccount({ name: user }: UserInfo): object {
  const [, , namespace, name] = user.split(':')
  return { kind: 'ServiceAccount', name, namespace }
}
