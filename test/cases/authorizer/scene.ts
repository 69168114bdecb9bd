import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Kubectl } from '../../support/oriel.ts'
import { bound, masters, type People } from '../../support/people.ts'
import { apply, createWorkspaces } from '../../support/tenants.ts'

export const secrets = '/api/v1/namespaces/default/secrets'
export const configMaps = '/api/v1/namespaces/default/configmaps'
export const namespaces = '/api/v1/namespaces'
export const access = 'system:kcp:workspace:access'
export const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

export const workspace = (name: string) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
})

export const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }

interface Rules {
  readonly resourceRules: readonly object[]
  readonly nonResourceRules: readonly object[]
  readonly incomplete: boolean
}

export const hasRule = ({ resourceRules }: Rules, rule: object): boolean =>
  resourceRules.some(each => isDeepStrictEqual(each, rule))

export const at = (path: string, rest = '') => `/clusters/root:${path}${rest}`

export const isReady = (kubectl: Kubectl, ...names: string[]) =>
  kubectl([
    'wait',
    '--for=jsonpath={.status.phase}=Ready',
    '--timeout=90s',
    ...names.map(n => `workspace/${n}`),
  ])

export interface Reviewed {
  readonly user: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, string>>
}

/** Two organizations of two workspaces each, with an administrator each, and workspaces with required groups. */
export async function createOrganizations({ oriel, admin }: People): Promise<void> {
  await createWorkspaces(oriel, ['org1', 'org2'])
  for (const org of ['org1', 'org2']) {
    const inOrg = admin.at(at(org))
    await apply(inOrg, workspace('workspace1'), workspace('workspace2'))
    await isReady(inOrg, 'workspace1', 'workspace2')
    await apply(admin.at(at(`${org}:workspace1`)), bound('cluster-admin', 'user-1'))
    await apply(admin.at(at(`${org}:workspace2`)), bound('cluster-admin', 'user-2'))
    await apply(inOrg, bound(access, 'user-1', 'user-2', 'user-3'))
  }
  const required = 'authorization.kcp.io/required-groups=empty-group'
  for (const path of ['org2', 'org2:workspace1'])
    await admin.at(at(path))(['annotate', 'logicalclusters.core.kcp.io/cluster', required])
}

export const statusOf = async (people: People, who: string | undefined, path: string): Promise<number> =>
  (await people.as(who)(path)).status

export const askRules = (people: People, path: string, { user, groups = [], extra = {} }: Reviewed) =>
  people.as(masters)(`${path}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews`, {
    method: 'POST',
    body: JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: 'default' },
    }),
    headers: {
      'content-type': 'application/json',
      'impersonate-user': user,
      'impersonate-group': ['system:authenticated', ...groups],
      ...Object.fromEntries(
        Object.entries(extra).map(([key, value]) => [`impersonate-extra-${encodeURIComponent(key)}`, value]),
      ),
    },
  })

export async function rulesOf(people: People, path: string, reviewed: Reviewed): Promise<Rules> {
  const told = await askRules(people, path, reviewed)
  assert.equal(told.status, 201, told.body)
  return told.json<{ status: Rules }>().status
}
