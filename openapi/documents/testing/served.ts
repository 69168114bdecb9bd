import { type ApiSet, apiSetOf } from '../../../framework/contract/apis.ts'
import type { ResourceStorage } from '../../../framework/contract/storage.ts'
import { foreignCrds } from '../../../test/support/crds.ts'
import type { KindDefinition } from '../../definitions/definition.ts'
import { kcpKinds } from '../../definitions/kcp/index.ts'
import { builtinKinds, reviewKinds } from '../../definitions/kubernetes/index.ts'
import { apiResourcesOf, definitionOf } from '../../resource.ts'
import { createOpenApiDocuments } from '../documents.ts'
import type { GroupVersionKind } from '../schema.ts'

const storage = {} as ResourceStorage
const resourcesOf = (kind: KindDefinition, custom: boolean) =>
  apiResourcesOf(kind, {
    custom,
    storage: () => storage,
    ...(reviewKinds.includes(kind) ? { verbs: ['create'] } : {}),
  })
/** An ApiSet of built-in kinds and of custom ones; it serves nothing. */
export const setOf = (builtin: readonly KindDefinition[], custom: readonly KindDefinition[]): ApiSet =>
  apiSetOf([
    ...builtin.flatMap(kind => resourcesOf(kind, false)),
    ...custom.flatMap(kind => resourcesOf(kind, true)),
  ])

/** The kinds of other projects' CRDs. */
export const crds = (): readonly KindDefinition[] => foreignCrds().map(definitionOf)

/** A kind with all features that documents treat specially. */
export const widgets: KindDefinition = {
  group: 'example.com',
  names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
  namespaced: true,
  versions: [
    {
      name: 'v1',
      served: true,
      storage: true,
      status: true,
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      columns: [],
      selectableFields: [{ jsonPath: '.spec.color' }],
      schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              color: { type: 'string', nullable: true },
              size: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
              template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: {} },
              limit: { type: 'integer', maximum: 9_223_372_036_854_775_807n as unknown as number },
            },
            oneOf: [{ required: ['color'] }],
          },
        },
      },
    },
  ],
}

export const everything = setOf(builtinKinds, [...kcpKinds, widgets])

export const same = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.group === b.group && a.version === b.version && a.kind === b.kind

/** The document in bytes. */
export const read = <D>(bytes: Buffer | undefined): D => JSON.parse(bytes?.toString() ?? 'null') as D

/** Every string that stands under `$ref`. */
function references(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' ? [String(member)] : references(member),
  )
}
function resolve(document: unknown, ref: string): unknown {
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
}
/** References that lead nowhere. */
export const unresolved = (document: unknown): readonly string[] => [
  ...new Set(references(document).filter(ref => resolve(document, ref) === undefined)),
]

export const newDocuments = () => createOpenApiDocuments({ gitVersion: 'v1.36.0+test' })
