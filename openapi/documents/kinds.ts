import type { ApiResource, Subresource } from '../../framework/contract/apis.ts'
import { atOnce, type Steps, Work } from '../../framework/json/json.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { kindSchema, list, object, typeMeta } from '../definitions/fields.ts'
import { scaleSchema, tokenRequestSchema } from '../definitions/kubernetes/reviews.ts'
import {
  builtinModel,
  type Component,
  type Components,
  described,
  type GroupVersionKind,
  mapChildren,
  meta,
  modelName,
  reference,
} from './schema.ts'

type Properties = Readonly<Record<string, JSONSchemaProps>>

const objectFields: Properties = {
  ...typeMeta,
  metadata: described('Standard metadata of the object.', meta('ObjectMeta')),
}

/** Adds type and metadata to embedded objects, whose schemas leave them out. */
function* withEmbeddedFields(schema: JSONSchemaProps, work: Work): Steps<JSONSchemaProps> {
  if (work.isStepDone()) yield
  const mapped = yield* mapChildren(schema, child => withEmbeddedFields(child, work))
  if (schema['x-kubernetes-embedded-resource'] !== true) return mapped
  return { ...mapped, properties: { ...mapped.properties, ...objectFields } }
}

/** The component of an object: its schema, with type and metadata. */
function* objectComponent(schema: JSONSchemaProps, gvk: GroupVersionKind): Steps<Component> {
  const mapped = yield* withEmbeddedFields(schema, new Work())
  return {
    ...mapped,
    type: 'object',
    properties: { ...mapped.properties, ...objectFields },
    'x-kubernetes-group-version-kind': [gvk],
  }
}

const listComponent = (resource: ApiResource, gvk: GroupVersionKind): Component => ({
  ...object(
    `${gvk.kind} is a list of ${resource.names.kind}.`,
    {
      ...typeMeta,
      items: list('List of objects.', reference(modelName(resource, resource.names.kind))),
      metadata: described('Standard metadata of the list.', meta('ListMeta')),
    },
    { required: ['items'] },
  ),
  'x-kubernetes-group-version-kind': [gvk],
})

const selectableFields = ({ custom, selectableFields }: ApiResource): Component =>
  custom && selectableFields !== undefined && Object.keys(selectableFields).length > 0
    ? { 'x-kubernetes-selectable-fields': Object.keys(selectableFields).map(fieldPath => ({ fieldPath })) }
    : {}

/** Schemas of subresources with their own kinds. */
const subresourceSchemas: Readonly<Record<string, JSONSchemaProps>> = {
  'autoscaling/v1 Scale': scaleSchema,
  'authentication.k8s.io/v1 TokenRequest': tokenRequestSchema,
}

export const kindOf = ({ group, version, names }: ApiResource): GroupVersionKind => ({
  group,
  version,
  kind: names.kind,
})

export const subresourceKind = (parent: ApiResource, sub: Subresource): GroupVersionKind => ({
  group: sub.group ?? parent.group,
  version: sub.version ?? parent.version,
  kind: sub.kind,
})

/** The model of a subresource: that of the parent if it has the same kind. */
export const subresourceModel = (parent: ApiResource, sub: Subresource): string =>
  sub.group === undefined
    ? modelName(parent, sub.kind)
    : builtinModel(sub.group, sub.version ?? 'v1', sub.kind)

/** Removes `nullable` from the fields of built-in kinds, as Kubernetes does. */
function withoutNullable({ properties = {}, ...schema }: JSONSchemaProps): JSONSchemaProps {
  const said = Object.entries(properties).map(([name, { nullable: _, ...property }]) => [name, property])
  return { ...schema, properties: Object.fromEntries(said) }
}

/** The components of a resource: its kind, its list, and the kinds of its subresources. */
export function* componentsOf(resource: ApiResource): Steps<Components> {
  const { names, verbs, subresources } = resource
  const gvk = kindOf(resource)
  const { custom, openapi } = resource
  const schema = custom ? (openapi as JSONSchemaProps) : withoutNullable(openapi as JSONSchemaProps)
  const lists = verbs.includes('list')
    ? { [modelName(resource, names.listKind)]: listComponent(resource, { ...gvk, kind: names.listKind }) }
    : {}
  const component = yield* objectComponent(schema, gvk)
  return {
    ...Object.fromEntries(subresources.map(sub => subresourceComponent(resource, sub))),
    [modelName(resource, names.kind)]: { ...component, ...selectableFields(resource) },
    ...lists,
  }
}

function subresourceComponent(parent: ApiResource, sub: Subresource): readonly [string, Component] {
  const gvk = subresourceKind(parent, sub)
  const known = subresourceSchemas[`${gvk.group}/${gvk.version} ${gvk.kind}`]
  const schema = known ?? kindSchema(`A ${gvk.kind}.`, {})
  return [subresourceModel(parent, sub), atOnce(objectComponent(schema, gvk))]
}
