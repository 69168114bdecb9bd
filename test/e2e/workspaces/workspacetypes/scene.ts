import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../../framework/index.ts'
import { type Client, clientOf, type Reply } from '../../../support/client.ts'
import { discard, eventually, kubectlFor, type Oriel } from '../../../support/oriel.ts'
import { startServer } from '../../../support/servers/kcp.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import type { Tenant } from '../../../support/tenants.ts'
import { configAt, userAt } from '../../../support/watcher.ts'

export const judged = process.env.KCP_BIN !== undefined
export const tenancy = '/apis/tenancy.kcp.io/v1alpha1'
export const org = `/clusters/root:org${tenancy}`
export const universal = { with: [{ path: 'root', name: 'universal' }] }
const json = { 'content-type': 'application/json' }

export interface Workspace extends KubeObject {
  readonly spec: { readonly cluster?: string; readonly URL?: string }
  readonly status: {
    readonly phase: string
    readonly initializers?: readonly string[]
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly message?: string
    }[]
  }
}

export const workspace = (name: string, type?: object, spec: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { ...(type && { type }), ...spec },
})

export const workspaceType = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'WorkspaceType',
  metadata: { name },
  spec,
})

export const here = (name: string): object => ({ path: 'root:org', name })

export const post = (client: Client, path: string, body: KubeObject): Promise<Reply> =>
  client(path, { method: 'POST', headers: json, body })

export const isReady = ({ status }: Workspace): boolean => status?.phase === 'Ready'

export const forbidden = (reply: Reply, resource: string, name: string, text: string): void => {
  assert.equal(reply.status, 403, reply.text)
  assert.equal(reply.json().reason, 'Forbidden')
  assert.equal(reply.json().message, `${resource}.tenancy.kcp.io "${name}" is forbidden: ${text}`)
}

/** A workspace `org` of a type that allows all children, and its users. */
export interface Types {
  readonly oriel: Oriel
  readonly tenant: Tenant
  readonly admin: Client
  readonly alice: Client
  readonly nobody: Client
  readonly master: Client
}

export async function openTypes(): Promise<Types> {
  const file = join(await temporaryDirectory('types'), 'tokens.csv')
  await writeFile(file, 'alice-token,alice,1\n')
  const oriel = await startServer(['--token-auth-file', file])
  const kubectl = kubectlFor(oriel, 'root').at('/clusters/root:org')
  const clients = {
    admin: await clientOf(configAt(oriel, oriel.url)),
    master: await clientOf(configAt(oriel, oriel.url, 'shard-base')),
    alice: await clientOf(userAt(oriel, oriel.url, 'alice-token')),
    nobody: await clientOf(userAt(oriel, oriel.url)),
  }
  const scene = { oriel, ...clients, tenant: { path: 'root:org', cluster: '', kubectl } }
  const root = `/clusters/root${tenancy}`
  await make(scene, workspace('org', { path: 'root', name: 'universal' }), root)
  const { spec } = await get(scene, 'org', isReady, root)
  return { ...scene, tenant: { ...scene.tenant, cluster: spec.cluster ?? '' } }
}

export async function closeTypes({ oriel, ...scene }: Types): Promise<void> {
  for (const client of [scene.admin, scene.alice, scene.master, scene.nobody]) client.close()
  await discard(oriel)
}

export const make = (scene: Types, object: KubeObject, parent = org, client = scene.admin): Promise<Reply> =>
  post(client, `${parent}/workspaces`, object)

export const define = async (scene: Types, name: string, spec: object = {}): Promise<void> => {
  const reply = await post(scene.admin, `${org}/workspacetypes`, workspaceType(name, spec))
  assert.equal(reply.status, 201, reply.text)
}

export const get = (
  scene: Types,
  name: string,
  isSo: (workspace: Workspace) => boolean,
  parent = org,
): Promise<Workspace> =>
  eventually(async () => (await scene.admin(`${parent}/workspaces/${name}`)).json<Workspace>(), isSo, 90_000)

export const waitsFor =
  (scene: Types, type: string) =>
  ({ status }: Workspace): boolean =>
    status?.initializers?.join() === `${scene.tenant.cluster}:${type}`

export const remove = async (scene: Types, path: string): Promise<void> => {
  const { status, text } = await scene.admin(path, { method: 'DELETE' })
  assert.equal(status, 200, text)
}

export const gone = (scene: Types, name: string): Promise<unknown> =>
  eventually(
    () => scene.admin(`${org}/workspaces/${name}`),
    ({ status }) => status === 404,
    90_000,
  )
