import type { Loader, Requests, Target } from './loader.ts'

/** The API of `offer`. */
export const offered = { group: 'bench.example.com', resource: 'widgets', kind: 'Widget' } as const

const { group } = offered
const schemaName = `v1.widgets.${group}`
const apis = '/apis/apis.kcp.io'
const perSecond = 40

const schema = {
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: schemaName },
  spec: {
    group,
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
        },
      },
    ],
  },
}

const apiExport = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: group },
  spec: { resources: [{ group, name: 'widgets', schema: schemaName, storage: { crd: {} } }] },
}

const bindingOf = (provider: string): object => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'widgets' },
  spec: { reference: { export: { path: provider, name: group } } },
})

const post = (path: string, body: object, count = 1): Requests => ({
  method: 'POST',
  paths: [path],
  body: JSON.stringify(body),
  contentType: 'application/json',
  workers: Math.min(count, 64),
  count,
})

/** Where the API is offered, and who binds it. */
export interface Bound {
  readonly provider: string
  /** Paths of workspaces with `%d` for a number. */
  readonly consumers: string
  readonly count: number
}

/** Offers an API. */
export async function offer(loader: Loader, target: Target, provider: string): Promise<void> {
  const at = `/clusters/${provider}${apis}`
  await loader.run({ target, requests: post(`${at}/v1alpha1/apiresourceschemas`, schema) })
  const ready = { until: `${at}/v1alpha2/apiexports/${group}`, untilHas: '"identityHash":"' }
  await loader.run({ target, requests: { ...post(`${at}/v1alpha2/apiexports`, apiExport), ...ready } })
}

/** Creates a binding in each workspace, 40 in a second, and reads it until it is bound. */
export function bindings({ provider, consumers, count }: Bound): Requests {
  const path = `/clusters/${consumers}${apis}/v1alpha2/apibindings`
  const bound = { until: `${path}/widgets`, untilHas: '"phase":"Bound"', perSecond }
  return { ...post(path, bindingOf(provider), count), ...bound }
}
