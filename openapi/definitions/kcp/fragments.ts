import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import type { KindDefinition, KindVersion } from '../definition.ts'
import { atomicObject, boolean, list, listMap, object, oneOfStrings, rules, set, string } from '../fields.ts'
import { kcpConditions, labelSelector, labelSelectorFields, workspacePathPattern } from '../fragments.ts'

export const workspacePath = (description: string): JSONSchemaProps =>
  string(description, { pattern: workspacePathPattern })

export const exportReference = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps =>
  object(
    description,
    {
      name: string('Name of the APIExport.'),
      path: workspacePath('Path of the workspace of the APIExport. Defaults to this workspace.'),
    },
    { required: ['name'], ...more },
  )

export const unchangingExport = rules(['self == oldSelf', 'APIExport reference must not be changed'])

export const secretReference = (description: string): JSONSchemaProps =>
  atomicObject(description, {
    name: string('Name of the Secret.'),
    namespace: string('Namespace of the Secret.'),
  })

/** The status of endpoint slices. */
export const endpointSliceStatus = object('Observed state.', {
  conditions: kcpConditions,
  endpoints: listMap(
    'Endpoints of the virtual workspace.',
    ['url'],
    object(
      'An endpoint of the virtual workspace.',
      {
        shards: object(
          'Shards whose objects the endpoint serves.',
          {
            matchAll: boolean('Selects all shards. Mutually exclusive with selector.'),
            selector: labelSelector('Label selector for shards. Mutually exclusive with matchAll.'),
          },
          rules([
            '!(has(self.matchAll) && self.matchAll && has(self.selector))',
            'matchAll and selector are mutually exclusive',
          ]),
        ),
        url: string('URL of the endpoint.', { minLength: 1 }),
      },
      { required: ['url'] },
    ),
  ),
  shardSelector: string('Label selector of the Partition for which the endpoints were computed.'),
})

/** A cluster-scoped kind in the category `kcp`, as all kinds of kcp. */
export const kcpKind = (
  group: string,
  kind: string,
  versions: readonly KindVersion[],
  shortNames?: readonly string[],
): KindDefinition => {
  const singular = kind.toLowerCase()
  return {
    group,
    names: {
      kind,
      listKind: `${kind}List`,
      singular,
      plural: `${singular}s`,
      categories: ['kcp'],
      ...(shortNames === undefined ? {} : { shortNames }),
    },
    namespaced: false,
    versions,
  }
}

type Shape = Pick<KindVersion, 'schema' | 'columns' | 'status'>

export const stored = (name: string, shape: Shape): KindVersion => ({
  name,
  served: true,
  storage: true,
  ...shape,
})
export const served = (name: string, shape: Shape): KindVersion => ({
  name,
  served: true,
  storage: false,
  ...shape,
})

type Properties = Readonly<Record<string, JSONSchemaProps>>

const group = (more: JSONSchemaProps): JSONSchemaProps =>
  string('API group of the resource. "" is the core group.', {
    pattern: '^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$',
    ...more,
  })
const resource = string('Plural name of the resource.', { pattern: '^[a-z][-a-z0-9]*[a-z0-9]$' })
const identityHash = (more: JSONSchemaProps = {}): JSONSchemaProps =>
  string('Identity hash of the APIExport that exports the resource. Empty for built-in resources.', more)

const claimedObjects = list(
  'Objects that are claimed.',
  object(
    'Selects objects by name, by namespace, or by both.',
    {
      name: string('Name of the object. Selects objects in all namespaces if namespace is unset.', {
        minLength: 1,
        maxLength: 253,
        pattern: '^([a-z0-9][-a-z0-9_.]*)?[a-z0-9]$',
      }),
      namespace: string('Namespace of the object. Selects all objects in the namespace if name is unset.', {
        minLength: 1,
      }),
    },
    rules(['has(self.__namespace__) || has(self.name)', 'at least one field must be set']),
  ),
)

/** A permission claim of v1alpha1. APIExport defaults its group, APIBinding does not. */
export const claimV1 = (
  groupMore: JSONSchemaProps = {},
  extra: Properties = {},
  required: readonly string[] = [],
): JSONSchemaProps =>
  object(
    'A permission that the API provider requests on a resource in the workspaces of API consumers.',
    {
      all: boolean('Claims all objects of the resource. Mutually exclusive with resourceSelector.'),
      group: group(groupMore),
      identityHash: identityHash(),
      resource,
      resourceSelector: claimedObjects,
      ...extra,
    },
    {
      required: ['resource', ...required],
      ...rules([
        '(has(self.all) && self.all) != (has(self.resourceSelector) && size(self.resourceSelector) > 0)',
        'either "all" or "resourceSelector" must be set',
      ]),
    },
  )

/** The object selector of a v1alpha2 claim. */
export const claimSelector = (description: string): JSONSchemaProps =>
  atomicObject(description, {
    matchAll: boolean(
      'Selects all objects of the resource. Mutually exclusive with matchLabels and matchExpressions.',
    ),
    ...labelSelectorFields,
  })

export const claimV2 = (extra: Properties = {}, required: readonly string[] = []): JSONSchemaProps =>
  object(
    'A permission that the API provider requests on a resource in the workspaces of API consumers.',
    {
      defaultSelector: claimSelector(
        'Selector of the claim in APIBindings that a WorkspaceType creates by default. Selects all objects if unset.',
      ),
      group: group({ default: '' }),
      identityHash: identityHash({ default: '' }),
      resource,
      verbs: set('Verbs that the API provider requests on the objects.', { type: 'string' }, { minItems: 1 }),
      ...extra,
    },
    { required: ['resource', 'verbs', ...required] },
  )

/** The decision of the API consumer on a claim. */
export const claimState = oneOfStrings('Whether the API consumer accepts or rejects the claim.', [
  'Accepted',
  'Rejected',
])
