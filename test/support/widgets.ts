import type { AdmissionPlugin } from '../../framework/contract/admission.ts'
import type { ApiResource } from '../../framework/contract/apis.ts'
import type { ObjectSchema } from '../../framework/contract/schema.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { ResourceRequest, Verb } from '../../framework/request/requestinfo.ts'
import type { Answer, VerbRequest } from '../../framework/request/response.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { handle } from '../../framework/server/dispatch.ts'
import { testContext } from './context.ts'

const known = ['apiVersion', 'kind', 'metadata', 'spec', 'status']

/** A schema with any `spec` and `status`, except for `spec.unknown`. */
const schema: ObjectSchema = {
  decode(object) {
    const extra = Object.keys(object).filter(key => !known.includes(key))
    const { unknown, ...spec } = (object.spec ?? {}) as Record<string, unknown>
    const kept = Object.fromEntries(Object.entries(object).filter(([key]) => known.includes(key)))
    const pruned = object.spec === undefined ? kept : { ...kept, spec }
    return {
      object: pruned as KubeObject,
      unknown: [...extra, ...(unknown === undefined ? [] : ['spec.unknown'])],
    }
  },
  validate: () => [],
}

/** The verbs of a custom resource. */
export const everyVerb: readonly Verb[] = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]

/** `widgets.example.com`: a custom, namespaced resource with a column and a status, over any storage. */
export const widgets = (storage: ResourceStorage, more: Partial<ApiResource> = {}): ApiResource => ({
  group: 'example.com',
  version: 'v1',
  names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
  namespaced: true,
  verbs: everyVerb,
  storage,
  schema,
  columns: [
    {
      name: 'Color',
      type: 'string',
      format: '',
      description: 'Its color.',
      priority: 0,
      cell: object => ((object.spec as { color?: string } | undefined)?.color ?? null) as string | null,
    },
  ],
  subresources: [{ name: 'status', kind: 'Widget', verbs: ['get', 'update', 'patch'], storage, schema }],
  custom: true,
  unconditionalUpdate: false,
  createOnUpdate: false,
  selectableFields: { 'spec.color': object => String((object.spec as { color?: string })?.color ?? '') },
  openapi: {},
  ...more,
})

/** A request of a test. */
export interface Asked {
  readonly verb: Verb
  readonly name?: string
  readonly namespace?: string
  readonly subresource?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | object
  readonly signal?: AbortSignal
  readonly cluster?: string
  /** Default: the server's own user. */
  readonly user?: UserInfo
  readonly admission?: readonly AdmissionPlugin[]
  /** Throws unless the user may create a missing object. */
  readonly mayCreate?: () => Promise<void>
  /** The resource in its other versions. */
  readonly versions?: Readonly<Record<string, ApiResource>>
}

export interface Told extends Answer {
  readonly warnings: readonly string[]
}

/** Runs one verb as the server would. */
export async function ask(resource: ApiResource, asked: Asked): Promise<Told> {
  const { verb, name = '', namespace = 'ns1', subresource = '', body = '' } = asked
  const info: Partial<ResourceRequest> = {
    verb,
    name,
    namespace,
    subresource,
    group: resource.group,
    version: resource.version,
    resource: resource.names.plural,
  }
  const ctx = testContext({
    cluster: asked.cluster ?? 'one',
    info,
    ...(asked.signal && { signal: asked.signal }),
    ...(asked.user && { user: asked.user }),
  })
  const request: VerbRequest = {
    method: 'GET',
    query: new URLSearchParams(asked.query ?? ''),
    headers: asked.headers ?? {},
    body: async () => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }
  const answer = await handle(ctx, resource, request, {
    admission: asked.admission ?? [],
    atVersion: version => asked.versions?.[version],
    mayCreate: asked.mayCreate ?? (async () => undefined),
  })
  return { ...answer, warnings: ctx.warnings }
}

/** The whole body of a response. */
export async function bodyOf({ body }: Answer): Promise<string> {
  if (Buffer.isBuffer(body)) return body.toString()
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** The body of a response as JSON. */
export const jsonOf = async (answer: Answer | Promise<Answer>): Promise<Record<string, unknown>> =>
  JSON.parse(await bodyOf(await answer))

export const widget = (name: string, spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec,
})
