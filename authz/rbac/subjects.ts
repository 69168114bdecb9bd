import type { UserInfo } from '../../framework/request/user.ts'

/** `subjects[]` of a binding. */
export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** Under what a binding is found: `User/alice`, `Group/devs`; a service account is the user it authenticates as. */
export function subjectKey(subject: Subject, bindingNamespace: string): string | undefined {
  if (subject.kind !== 'ServiceAccount')
    return subjectKinds.has(subject.kind) ? keyOf(subject.kind, subject.name) : undefined
  const namespace = subject.namespace || bindingNamespace
  return namespace === '' ? undefined : keyOf('User', `${serviceAccountPrefix}${namespace}:${subject.name}`)
}

/** Every key under which a binding may name this user. */
export function keysOf(user: UserInfo): readonly string[] {
  const keys = known.get(user) ?? [
    keyOf('User', user.name),
    ...user.groups.map(group => keyOf('Group', group)),
  ]
  known.set(user, keys)
  return keys
}

/** Who is authenticated once asks many times. */
const known = new WeakMap<UserInfo, readonly string[]>()

/** A key in the words of reasons: `User "alice"`, `ServiceAccount "robot/default"`. */
export function printSubject(key: string): string {
  const slash = key.indexOf('/')
  const [kind, name] = [key.slice(0, slash), key.slice(slash + 1)]
  if (kind !== 'User' || !name.startsWith(serviceAccountPrefix)) return `${kind} ${JSON.stringify(name)}`
  const [namespace, account] = name.slice(serviceAccountPrefix.length).split(':')
  return `ServiceAccount "${account}/${namespace}"`
}

const subjectKinds = new Set(['User', 'Group'])
const keyOf = (kind: string, name: string): string => `${kind}/${name}`

const serviceAccountPrefix = 'system:serviceaccount:'
