import type { KubeObject } from '../../framework/index.ts'
import type { Client, Reply, Sent } from '../support/client.ts'
import { kcpDiffers, skip } from '../support/notrun.ts'

/** One logical cluster that serves the fixture of the cases of rules.md, and its URL. */
export interface Target {
  /** Requests below the URL of the logical cluster. */
  readonly client: Client
  /** Ends what was started for it. */
  close(): Promise<void>
  /** An unused name. */
  fresh(): string
  /** A new namespace, for cases that count objects. */
  namespace(): Promise<string>
  /** The status code for a resource that is not served: the view's authorizer comes first. */
  readonly unknown: 403 | 404
  /** A view on a workspace, not the workspace itself. */
  readonly isView: boolean
  /** Whether its view is a separate process. */
  readonly isApart: boolean
  /** Whether the server is kcp, whose responses sometimes differ from Kubernetes'. */
  readonly isKcp: boolean
}

export const group = 'example.com'
export const namespaces = '/api/v1/namespaces'
/** The path of the widgets of a namespace. */
export const widgetsIn = (namespace: string, version = 'v1'): string =>
  `/apis/${group}/${version}/namespaces/${namespace}/widgets`
export const configMapsIn = (namespace: string): string => `${namespaces}/${namespace}/configmaps`

const spec = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 0, maximum: 10, default: 1 },
    color: { type: 'string', enum: ['red', 'blue'] },
    note: { type: 'string', nullable: true },
    replicas: { type: 'integer' },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, port: { type: 'integer' } },
      },
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    atom: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
  },
}

const status = {
  type: 'object',
  properties: { phase: { type: 'string' }, replicas: { type: 'integer' } },
}

const storageVersion = (name: string) => ({
  name,
  served: true,
  storage: true,
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
  selectableFields: [{ jsonPath: '.spec.color' }],
  additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
  schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
})

export const widgetNames = {
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  shortNames: ['wd'],
  categories: ['all'],
}

/** Fixture F. */
export const fixture = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: widgetNames,
    versions: [storageVersion('v1'), { ...storageVersion('v1beta1'), storage: false }],
  },
}

/** The fixture with other values allowed for `spec.color`. */
export function fixtureWithColors(...colors: readonly string[]): KubeObject {
  const copy = structuredClone(fixture) as KubeObject & {
    spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: typeof spec } } } }[] }
  }
  for (const { schema } of copy.spec.versions)
    schema.openAPIV3Schema.properties.spec.properties.color.enum = [...colors]
  return copy
}

export const widget = (name: string, spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec,
})

export const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
export const partial = (as: string): string => `application/json;as=${as};g=meta.k8s.io;v=v1`

/** Sends a request that must have this status; returns the object of the response. */
export async function expect(code: number, answer: Promise<Reply>) {
  const reply = await answer
  if (reply.status !== code)
    throw new Error(`${reply.status} instead of ${code}: ${reply.text.slice(0, 500)}`)
  return reply.json()
}

export const post = (body: object | string, headers: Readonly<Record<string, string>> = {}): Sent => ({
  method: 'POST',
  body,
  headers,
})
export const put = (body: object): Sent => ({ method: 'PUT', body })
export const merge = (body: object): Sent => ({
  method: 'PATCH',
  body,
  headers: { 'content-type': 'application/merge-patch+json' },
})
export const jsonPatch = (body: object): Sent => ({
  method: 'PATCH',
  body,
  headers: { 'content-type': 'application/json-patch+json' },
})
export const remove = (body?: object): Sent => ({ method: 'DELETE', ...(body && { body }) })

type Case = (target: () => Target, name: string, test: () => Promise<void>) => void

/** A case that some targets fail. */
export const unless =
  (isWorse: (target: Target) => boolean, reason = kcpDiffers): Case =>
  (target, name, test) =>
    void it(name, function () {
      if (isWorse(target())) skip(this, reason)
      return test()
    })

/** A case that kcp fails where upstream does not: it stores `kcp.io/cluster` when a client sends it, and more. */
export const better = unless(({ isKcp }) => isKcp)

/** A case that a view fails when its shard is another process. */
export const betterTogether = unless(
  ({ isApart }) => isApart,
  'a view in front of a shard in another process does not support this',
)

/** A case that kcp passes in workspaces only: its views have other read code, and no `/scale`. */
export const betterInViews = unless(({ isKcp, isView }) => isKcp && isView)
