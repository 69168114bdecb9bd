import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Kubectl, kubectlFor, type Oriel, readText, startOriel } from './oriel.ts'
import { startServer } from './servers/kcp.ts'
import { temporaryDirectory } from './temporary.ts'
import { ask, type WireRequest } from './wire.ts'

/** A response, with the parts of its body that tests read. */
export interface Told {
  readonly status: number
  readonly body: string
  json<T = Spoken>(): T
}

/** The fields that tests read of JSON responses. */
export interface Spoken {
  readonly message?: string
  readonly items?: readonly { readonly metadata: { readonly name: string } }[]
  readonly status?: Readonly<Record<string, unknown>>
}

/** A server, and the users of kcp's tests: `user-1` to `user-5`, without permissions, each in a group `team-<n>`. */
export interface People {
  readonly oriel: Oriel
  readonly admin: Kubectl
  /** As a user by name, as a service account by its token, as `system:masters`, or without credentials. */
  as(
    who: string | { readonly token: string } | undefined,
  ): (path: string, wanted?: WireRequest) => Promise<Told>
  post(who: string | { readonly token: string }, path: string, object: object): Promise<Told>
}

export const masters = 'system:masters'

/** `args` are for Oriel only. With KCP_BIN the server is kcp. */
export async function startWithPeople(args: readonly string[] = []): Promise<People> {
  const directory = await temporaryDirectory('people')
  const file = join(directory, 'people.csv')
  const users = [1, 2, 3, 4, 5].map(n => `user-${n}-token,user-${n},${n},"team-${n}"`)
  await writeFile(file, [...users, 'masters-token,shard-admin,6,"system:masters"'].join('\n'))
  const isKcp = process.env.KCP_BIN !== undefined
  const oriel = isKcp
    ? await startServer(['--token-auth-file', file, '--feature-gates=WorkspaceAuthentication=true'])
    : await startOriel({ directory, args: ['--store', 'memory:', '--token-auth-file', file, ...args] })
  const ca = await readText(join(oriel.directory, isKcp ? 'apiserver.crt' : 'ca.crt'))
  const tokenOf = (who: Parameters<People['as']>[0]): string | undefined => {
    if (typeof who === 'object') return who.token
    return who === masters ? 'masters-token' : who && `${who}-token`
  }
  const as: People['as'] = who => {
    const token = tokenOf(who)
    return async (path, wanted = {}) => {
      const headers = { ...(token && { authorization: `Bearer ${token}` }), ...wanted.headers }
      const { status, body } = await ask('HTTP/2', oriel.url + path, { ca, ...wanted, headers })
      return { status, body, json: <T>() => JSON.parse(body) as T }
    }
  }
  const json = { 'content-type': 'application/json' }
  return {
    oriel,
    admin: kubectlFor(oriel, 'root'),
    as,
    post: (who, path, object) =>
      as(who)(path, { method: 'POST', body: JSON.stringify(object), headers: json }),
  }
}

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' }
const apiGroup = 'rbac.authorization.k8s.io'

/** A ClusterRole of one rule. */
export const clusterRole = (name: string, rule: object) => ({
  ...rbac,
  kind: 'ClusterRole',
  metadata: { name },
  rules: [rule],
})

/** A binding of a ClusterRole to a user, or, for names such as `group:devs`, a group. */
export function bound(role: string, ...subjects: readonly string[]) {
  const named = (subject: string) =>
    subject.startsWith('group:')
      ? { apiGroup, kind: 'Group', name: subject.slice('group:'.length) }
      : { apiGroup, kind: 'User', name: subject }
  return {
    ...rbac,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${role}-${subjects.join('-')}`.replaceAll(/[^a-z0-9-]/g, '-') },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: subjects.map(named),
  }
}
