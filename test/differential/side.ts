import { randomUUID } from 'node:crypto'
import { KubeConfig } from '@kubernetes/client-node'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf, type Reply } from '../support/client.ts'
import { eventually } from '../support/oriel.ts'
import { namespace } from './step.ts'

/** Prepares a place on one server: a new workspace on a kcp-style server, otherwise the server itself. */
export async function prepareSide(config: KubeConfig, definitions: readonly KubeObject[]): Promise<Client> {
  const client = (await clientOf(config)).at(await placeOf(config))
  await created(client, '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const definition of definitions) await created(client, path, definition)
  for (const { metadata } of definitions)
    await eventually(() => client(`${path}/${metadata.name}`), isEstablished, 120_000)
  for (const definition of definitions)
    await eventually(
      () => client(collectionOf(definition)),
      ({ status }) => status === 200,
      120_000,
    )
  return client
}

export function collectionOf({ spec }: KubeObject): string {
  const { group, names, versions } = spec as {
    group: string
    names: { plural: string }
    versions: { name: string }[]
  }
  return `/apis/${group}/${versions[0]?.name}/${names.plural}`
}

export function configOf(file: string): KubeConfig {
  const config = new KubeConfig()
  config.loadFromFile(file)
  return config
}

async function placeOf(config: KubeConfig): Promise<string> {
  const server = config.getCurrentCluster()?.server ?? ''
  const origin = new URL(server).origin
  const client = (await clientOf(config)).at(`${origin}/clusters/root`)
  if ((await client(workspaces)).status === 404) return server
  return `${origin}/clusters/${await workspace(client)}`
}

const workspaces = '/apis/tenancy.kcp.io/v1alpha1/workspaces'

/** Creates a workspace below root; returns its logical cluster. */
export async function workspace(client: Client): Promise<string> {
  const name = `differential-${randomUUID().slice(0, 8)}`
  await created(client, workspaces, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
  })
  const read = (reply: Reply) => reply.json<{ spec?: { cluster?: string }; status?: { phase?: string } }>()
  const ready = await eventually(
    () => client(`${workspaces}/${name}`),
    reply => read(reply).status?.phase === 'Ready',
    120_000,
  )
  return read(ready).spec?.cluster ?? ''
}

export async function created(client: Client, path: string, body: object): Promise<void> {
  const reply = await client(path, { method: 'POST', body })
  if (reply.status !== 201 && reply.status !== 409) throw new Error(`${path}: ${reply.status} ${reply.text}`)
}

function isEstablished(reply: Reply): boolean {
  const { status } = reply.json<{ status?: { conditions?: readonly { type: string; status: string }[] } }>()
  return status?.conditions?.some(each => each.type === 'Established' && each.status === 'True') ?? false
}
