import type { KubeObject } from '../../../framework/index.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import {
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../support/tenants.ts'
import { widgetNames } from '../fixture.ts'
import { mountFlags, mountRemote } from '../targets.ts'

export const group = 'kubectl.example.com'

const spec = {
  description: 'What the widget is like.',
  type: 'object',
  properties: {
    color: { description: 'Its color.', type: 'string', enum: ['red', 'blue'] },
    size: { type: 'integer' },
    replicas: { type: 'integer' },
  },
}

const condition = { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } }
const status = {
  type: 'object',
  properties: { replicas: { type: 'integer' }, conditions: { type: 'array', items: condition } },
}

const widgets: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: widgetNames,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
        ],
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
      },
    ],
  },
}

const core = ['configmaps', 'secrets', 'events', 'serviceaccounts', 'namespaces']
const claims = core.map(resource => ({ group: '', resource, verbs: ['*'] }))
const accepted = claims.map(claim => ({ ...claim, selector: { matchAll: true }, state: 'Accepted' }))

export interface Scene {
  readonly oriel: Oriel
  /** Administrators of a workspace that binds the widgets, by the URLs that they use. */
  readonly at: Readonly<Record<Where, Kubectl>>
  stop(): Promise<void>
}

export type Where = 'in a workspace' | 'through the view' | 'at a mount'
/** Real kcp needs a front proxy to have mounts. */
export const everywhere: readonly Where[] = [
  'in a workspace',
  'through the view',
  ...(process.env.KCP_BIN ? [] : (['at a mount'] as const)),
]

export async function startScene(): Promise<Scene> {
  const oriel = await startServer(await mountFlags())
  const [provider, consumer] = (await createWorkspaces(oriel, ['kubectl-provider', 'kubectl'])) as [
    Tenant,
    Tenant,
  ]
  await exportApi(provider, widgets, claims)
  await bind(consumer, bindingOf(provider, group, accepted))
  const mounted = process.env.KCP_BIN ? undefined : await mountRemote(oriel, widgets)
  const at = {
    'in a workspace': consumer.kubectl,
    'through the view': provider.kubectl.at(
      `${await publishedUrl(provider, group)}/clusters/${consumer.cluster}`,
    ),
    'at a mount': kubectlFor(oriel, 'root').at('/clusters/root:mounted'),
  }
  for (const where of everywhere)
    await eventually(
      () => at[where].try(['explain', 'widgets']),
      ({ code }) => code === 0,
    )
  return {
    oriel,
    at,
    async stop() {
      await mounted?.stop()
      await discard(oriel)
    },
  }
}

/** One target, with a name prefix for its objects. */
export interface Place {
  readonly kubectl: Kubectl
  /** A name that only this target uses. */
  name(of: string): string
  color(of: string): Promise<string>
}

export function placeOf(where: Where, scene: () => Scene): Place {
  const at = (): Kubectl => scene().at[where]
  const call = (args: readonly string[], input?: string) => at()(args, input)
  const kubectl: Kubectl = Object.assign(call, {
    try: (args: readonly string[], input?: string) => at().try(args, input),
    until: (args: readonly string[], isEnough: Parameters<Kubectl['until']>[1]) => at().until(args, isEnough),
    at: (path: string) => at().at(path),
    json: <T>(args: readonly string[]) => at().json<T>(args),
  })
  const slug = where.replace(/.* /, '')
  return {
    kubectl,
    name: of => `${of}-${slug}`,
    color: of => kubectl(['get', 'wd', `${of}-${slug}`, '-o', 'jsonpath={.spec.color}']),
  }
}

export const widget = (name: string, fields: object, metadata: object = {}): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name, namespace: 'default', ...metadata },
  spec: fields,
})

export const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data: { a: '1' },
})

export const texts = (...objects: readonly KubeObject[]): string =>
  objects.map(object => JSON.stringify(object)).join('\n')

/** Runs with a variable in kubectl's environment. */
export async function having<T>(name: string, value: string, work: () => Promise<T>): Promise<T> {
  process.env[name] = value
  try {
    return await work()
  } finally {
    delete process.env[name]
  }
}
