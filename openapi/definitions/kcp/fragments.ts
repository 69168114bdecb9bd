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
      name: string('The name of the APIExport.'),
      path: workspacePath('The workspace of the APIExport; the own one if unset.'),
    },
    { required: ['name'], ...more },
  )

export const unchangingExport = rules(['self == oldSelf', 'APIExport reference must not be changed'])

export const secretReference = (description: string): JSONSchemaProps =>
  atomicObject(description, {
    name: string('The name of the Secret.'),
    namespace: string('The namespace of the Secret.'),
  })

/** Status of endpoint slices: one URL per group of shards. */
export const endpointSliceStatus = object('What was observed.', {
  conditions: kcpConditions,
  endpoints: listMap(
    'The URLs of the virtual workspace.',
    ['url'],
    object(
      'One URL of the virtual workspace.',
      {
        shards: object(
          'The shards whose objects this URL serves.',
          {
            matchAll: boolean('Every shard.'),
            selector: labelSelector('The shards with these labels.'),
          },
          rules([
            '!(has(self.matchAll) && self.matchAll && has(self.selector))',
            'matchAll and selector are mutually exclusive',
          ]),
        ),
        url: string('The URL.', { minLength: 1 }),
      },
      { required: ['url'] },
    ),
  ),
  shardSelector: string('The label selector of the partition that was used.'),
})

/** Every kcp kind is cluster-scoped and in category `kcp` (chapter 20, section 2.0). */
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
  string('The API group; "" is the core group.', {
    pattern: '^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$',
    ...more,
  })
const resource = string('The resource, as its plural name.', { pattern: '^[a-z][-a-z0-9]*[a-z0-9]$' })
const identityHash = (more: JSONSchemaProps = {}): JSONSchemaProps =>
  string('The identity of the export that the resource comes from; empty for built-in resources.', more)

const claimedObjects = list(
  'Which objects are claimed.',
  object(
    'One object, or all objects of a namespace.',
    {
      name: string('The name of the object; without a namespace, in every namespace.', {
        minLength: 1,
        maxLength: 253,
        pattern: '^([a-z0-9][-a-z0-9_.]*)?[a-z0-9]$',
      }),
      namespace: string('The namespace of the object; without a name, all of its objects.', { minLength: 1 }),
    },
    rules(['has(self.__namespace__) || has(self.name)', 'at least one field must be set']),
  ),
)

/** A permission claim of v1alpha1; an APIExport defaults its group, an APIBinding does not. */
export const claimV1 = (
  groupMore: JSONSchemaProps = {},
  extra: Properties = {},
  required: readonly string[] = [],
): JSONSchemaProps =>
  object(
    'A resource that the provider asks to reach in the workspaces of its consumers.',
    {
      all: boolean('Claims every object; excludes resourceSelector.'),
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

/** The objects that a claim of v1alpha2 covers. */
export const claimSelector = (description: string): JSONSchemaProps =>
  atomicObject(description, { matchAll: boolean('All objects of the resource.'), ...labelSelectorFields })

export const claimV2 = (extra: Properties = {}, required: readonly string[] = []): JSONSchemaProps =>
  object(
    'A resource that the provider asks to reach in the workspaces of its consumers.',
    {
      defaultSelector: claimSelector(
        'The selector of bindings that a workspace gets through its type; all objects if unset.',
      ),
      group: group({ default: '' }),
      identityHash: identityHash({ default: '' }),
      resource,
      verbs: set('What the provider wants to do with the objects.', { type: 'string' }, { minItems: 1 }),
      ...extra,
    },
    { required: ['resource', 'verbs', ...required] },
  )

/** What the consumer decided about a claim. */
export const claimState = oneOfStrings('Whether the consumer grants the claim.', ['Accepted', 'Rejected'])
