import { type Address, Connection, type Request } from './tools/connection.ts'

const group = 'bench.example.com'
const base = '/clusters/root/apis'
const objects = `${base}/${group}/v1/routers`

const text = { type: 'string' }
const port = {
  type: 'object',
  required: ['name'],
  properties: { name: text, port: { type: 'integer' }, protocol: text, description: text, revision: text },
}
const ports = {
  type: 'array',
  items: port,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
}
const spec = { type: 'object', properties: { ports } }

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `routers.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'routers', singular: 'router', kind: 'Router', listKind: 'RouterList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
}

/** Some ports of an object, as one manager applies them. */
export interface Applied {
  readonly name: string
  readonly manager: string
  readonly from: number
  readonly count: number
  readonly revision: number
}

export const applying = ({ name, manager, from, count, revision }: Applied): Request => ({
  method: 'PATCH',
  path: `${objects}/${name}?fieldManager=${manager}&force=true`,
  contentType: 'application/apply-patch+yaml',
  body: JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'Router',
    metadata: { name },
    spec: { ports: Array.from({ length: count }, (_, i) => portAt(from + i, revision)) },
  }),
})

/** About 250 bytes, with its owner's managedFields. */
const portAt = (number: number, revision: number): object => ({
  name: `port-${number}`,
  port: 8000 + number,
  protocol: 'TCP',
  description: `where number ${number} of the router's services listens`,
  revision: String(revision),
})

export const patching = (name: string, revision: number): Request => ({
  method: 'PATCH',
  path: `${objects}/${name}`,
  contentType: 'application/merge-patch+json',
  body: JSON.stringify({ metadata: { labels: { revision: String(revision) } } }),
})

/** Serves the kind Router, and creates these objects. */
export async function define(address: Address, routers: readonly Applied[]): Promise<void> {
  const connection = await Connection.open(address)
  const definitions = `${base}/apiextensions.k8s.io/v1/customresourcedefinitions`
  await connection.read({ method: 'POST', path: definitions, body: JSON.stringify(definition) })
  while ((await connection.read({ path: objects })).status !== 200);
  for (const each of routers) {
    const { status } = await connection.read(applying(each))
    if (status !== 201 && status !== 200) throw new Error(`a router was refused with ${status}`)
  }
  connection.close()
}
