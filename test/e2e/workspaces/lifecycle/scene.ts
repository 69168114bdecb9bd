import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../../framework/index.ts'
import { eventually, type Kubectl, kubectlFor, type Oriel } from '../../../support/oriel.ts'
import { root } from '../../../support/source.ts'
import { apply, createWorkspaces, type Tenant } from '../../../support/tenants.ts'

export const logicalclusters = '/apis/core.kcp.io/v1alpha1/logicalclusters'
const universal = { with: [{ path: 'root', name: 'universal' }] }
const discovery = [{ nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*'], verbs: ['get'] }]
const configMaps = [{ apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['*'] }, ...discovery]

const workspaceType = (name: string, spec: object): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'WorkspaceType',
  metadata: { name },
  spec: { extend: universal, ...spec },
})

export const workspace = (name: string, type: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { type: { path: 'root:provider', name: type } },
})

export const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
})

export interface Type {
  readonly status?: {
    readonly virtualWorkspaces?: readonly { readonly url: string; readonly type: string }[]
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

export interface Waiting extends KubeObject {
  readonly spec: { readonly cluster: string }
  readonly status: {
    readonly phase: string
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
    readonly conditions?: readonly {
      readonly type: string
      readonly reason?: string
      readonly message?: string
    }[]
  }
}

export const isReady = ({ status }: Waiting): boolean => status.phase === 'Ready'

/** A provider of workspace types, with service accounts for their initializers and terminators. */
export interface Lifecycle {
  readonly oriel: Oriel
  readonly admin: Kubectl
  readonly provider: Tenant
  /** Running examples. */
  readonly children: ChildProcess[]
}

export async function openLifecycle(oriel: Oriel): Promise<Lifecycle> {
  const admin = kubectlFor(oriel, 'root')
  const [provider] = (await createWorkspaces(oriel, ['provider'])) as [Tenant]
  await apply(
    provider.kubectl,
    workspaceType('prepared', { initializer: true, initializerPermissions: configMaps }),
    workspaceType('cleaned', { terminator: true, terminatorPermissions: configMaps }),
    workspaceType('owned', { initializer: true, terminator: true }),
    workspaceType('twice', {
      initializer: true,
      extend: { with: [{ path: 'root:provider', name: 'prepared' }] },
    }),
  )
  for (const name of ['robot', 'other']) await provider.kubectl(['create', 'serviceaccount', name])
  await grant(provider, 'robot', 'initialize', 'prepared')
  await grant(provider, 'robot', 'terminate', 'cleaned')
  await grant(provider, 'robot', 'initialize,terminate', 'owned')
  await grant(provider, 'other', 'initialize', 'twice')
  return { oriel, admin, provider, children: [] }
}

async function grant({ kubectl }: Tenant, account: string, verbs: string, type: string): Promise<void> {
  const name = `${account}-${type}`
  const resource = '--resource=workspacetypes.tenancy.kcp.io'
  const verb = verbs.split(',').map(each => `--verb=${each}`)
  await kubectl(['create', 'clusterrole', name, ...verb, resource, `--resource-name=${type}`])
  const subject = `--serviceaccount=default:${account}`
  await kubectl(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, subject])
}

export async function urlOf(scene: Lifecycle, type: string, stage: string): Promise<string> {
  const found = await eventually(
    () => scene.provider.kubectl.json<Type>(['get', 'workspacetype', type]),
    ({ status }) => status?.virtualWorkspaces?.length === 2,
  )
  return found.status?.virtualWorkspaces?.find(entry => entry.type === stage)?.url ?? ''
}

export const create = async (scene: Lifecycle, name: string, type: string): Promise<Waiting> => {
  await apply(scene.admin, workspace(name, type))
  return get(scene, name, ({ spec, status }) => Boolean(spec.cluster) && status.phase !== 'Scheduling')
}

export const get = (
  scene: Lifecycle,
  name: string,
  satisfied: (workspace: Waiting) => boolean,
): Promise<Waiting> =>
  eventually(() => scene.admin.json<Waiting>(['get', 'workspace', name]), satisfied, 60_000)

export const gone = (scene: Lifecycle, name: string): Promise<unknown> =>
  eventually(
    () => scene.admin.try(['get', 'workspace', name]),
    ({ stderr }) => /NotFound/.test(stderr),
    60_000,
  )

export const remove = (scene: Lifecycle, name: string): Promise<unknown> =>
  scene.admin(['delete', 'workspace', name, '--wait=false'])

/** One of the examples, run with the service account's credentials. */
export async function start(scene: Lifecycle, example: string, url: string): Promise<ChildProcess> {
  const token = (await scene.provider.kubectl(['create', 'token', 'robot'])).trim()
  const file = join(scene.oriel.directory, 'robot.kubeconfig')
  const cluster = { name: 'c', cluster: { server: scene.oriel.url, 'insecure-skip-tls-verify': true } }
  const config = {
    'current-context': 'c',
    clusters: [cluster],
    users: [{ name: 'c', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  }
  await writeFile(file, JSON.stringify(config))
  const args = [join(root, 'dist/examples', `${example}.js`), url]
  const child = spawn(process.execPath, args, { env: { ...process.env, KUBECONFIG: file }, cwd: root })
  scene.children.push(child)
  return child
}
