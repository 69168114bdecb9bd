import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import {
  itemStruct,
  type MetaField,
  type MetaStruct,
  type MetaType,
  mergeKeys,
  metaStructs,
} from '../../framework/meta/objectmeta.ts'
import {
  anything,
  atomicList,
  boolean,
  int32,
  int64,
  list,
  map,
  object,
  string,
} from '../definitions/fields.ts'
import { type Components, described, meta, reference, versionModel } from './schema.ts'

const text: JSONSchemaProps = { type: 'string' }
const time = (description: string): JSONSchemaProps => described(description, meta('Time'))

const fieldSchemas: { readonly [T in MetaType]?: (description: string) => JSONSchemaProps } = {
  bool: boolean,
  int64,
  'v1.Time': time,
  'v1.FieldsV1': description => described(description, meta('FieldsV1')),
  'map[string]string': description => map(description, text),
  '[]string': description => list(description, text),
}

function fieldSchema(field: MetaField): JSONSchemaProps {
  const { type, description } = field
  const item = itemStruct(type)
  const schema =
    item === undefined
      ? (fieldSchemas[type] ?? string)(description)
      : list(description, reference(meta(item)))
  return { ...schema, ...mergeKeys(field) }
}

/** The model of `ObjectMeta` or of a struct in it. */
function metadataModel({ description, fields, isAtomic }: MetaStruct): JSONSchemaProps {
  const sorted = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1))
  const required = sorted.filter(([, { isRequired }]) => isRequired).map(([name]) => name)
  return object(description, Object.fromEntries(sorted.map(([name, field]) => [name, fieldSchema(field)])), {
    ...(required.length > 0 && { required }),
    ...(isAtomic && { 'x-kubernetes-map-type': 'atomic' }),
  })
}

const listMeta = object('What every list has in common.', {
  continue: string('A token for the next part of the list; empty at its end.'),
  remainingItemCount: int64('About how many objects come after this part.'),
  resourceVersion: string('The state of the server that the list shows; a watch may start there.'),
  selfLink: string('No longer used.'),
})

const statusDetails = object('What an error is about.', {
  causes: atomicList('Single problems, such as invalid fields.', reference(meta('StatusCause'))),
  group: string('The group of the object.'),
  kind: string('The resource or kind of the object.'),
  name: string('The name of the object.'),
  retryAfterSeconds: int32('When to try again, in seconds.'),
  uid: string('The UID of the object.'),
})

const status = object('What became of a request.', {
  apiVersion: string('v1'),
  code: int32('The HTTP status code.'),
  details: { ...described('What it is about.', meta('StatusDetails')), 'x-kubernetes-list-type': 'atomic' },
  kind: string('Status'),
  message: string('What happened, for people.'),
  metadata: reference(meta('ListMeta')),
  reason: string('Why, as one word in CamelCase.'),
  status: string('Success or Failure.'),
})

const deleteOptions = object('How an object is deleted.', {
  apiVersion: string('The group and version of these options.'),
  dryRun: atomicList('All: checks only, and deletes nothing.'),
  gracePeriodSeconds: int64('How long deletion may take, in seconds.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: boolean('Deletes objects that cannot be read.'),
  kind: string('DeleteOptions'),
  orphanDependents: boolean('Use propagationPolicy.'),
  preconditions: described('What must be so, else nothing is deleted.', meta('Preconditions')),
  propagationPolicy: string('What becomes of dependents: Orphan, Background or Foreground.'),
})

const groupVersion = object(
  'One version of a group.',
  { groupVersion: string('`group/version`.'), version: string('The version.') },
  { required: ['groupVersion', 'version'] },
)
const serverAddress = object(
  'Which address clients of a network should use.',
  { clientCIDR: string('The network.'), serverAddress: string('The address.') },
  { required: ['clientCIDR', 'serverAddress'] },
)
const groupFields = {
  apiVersion: string('v1'),
  kind: string('APIGroup'),
  name: string('The name of the group.'),
  preferredVersion: described(
    'The version to use unless there is a reason.',
    meta('GroupVersionForDiscovery'),
  ),
  serverAddressByClientCIDRs: atomicList('Addresses.', reference(meta('ServerAddressByClientCIDR'))),
  versions: atomicList('The versions of the group.', reference(meta('GroupVersionForDiscovery'))),
}

const apiResource = object(
  'One resource.',
  {
    categories: atomicList('Groups of resources, such as `all`.'),
    group: string('The group, where it differs from the list.'),
    kind: string('The kind of the objects.'),
    name: string('The plural name.'),
    namespaced: boolean('Whether objects live in namespaces.'),
    shortNames: atomicList('Short names for command lines.'),
    singularName: string('The singular name.'),
    storageVersionHash: string('Changes with the version in which objects are stored.'),
    verbs: list('What can be done.'),
    version: string('The version, where it differs from the list.'),
  },
  { required: ['name', 'singularName', 'namespaced', 'kind', 'verbs'] },
)

const discovery: Components = {
  [meta('APIGroup')]: object('One group.', groupFields, { required: ['name', 'versions'] }),
  [meta('APIGroupList')]: object(
    'All groups.',
    {
      apiVersion: string('v1'),
      groups: atomicList('The groups.', reference(meta('APIGroup'))),
      kind: string('APIGroupList'),
    },
    { required: ['groups'] },
  ),
  [meta('APIResource')]: apiResource,
  [meta('APIResourceList')]: object(
    'The resources of one group version.',
    {
      apiVersion: string('v1'),
      groupVersion: string('`group/version`.'),
      kind: string('APIResourceList'),
      resources: atomicList('The resources.', reference(meta('APIResource'))),
    },
    { required: ['groupVersion', 'resources'] },
  ),
  [meta('APIVersions')]: object(
    'The versions of the core group.',
    {
      apiVersion: string('v1'),
      kind: string('APIVersions'),
      serverAddressByClientCIDRs: atomicList('Addresses.', reference(meta('ServerAddressByClientCIDR'))),
      versions: atomicList('The versions.'),
    },
    { required: ['versions', 'serverAddressByClientCIDRs'] },
  ),
  [meta('GroupVersionForDiscovery')]: groupVersion,
  [meta('ServerAddressByClientCIDR')]: serverAddress,
}

const versionFields = [
  'buildDate',
  'compiler',
  'gitCommit',
  'gitTreeState',
  'gitVersion',
  'goVersion',
  'major',
  'minor',
  'platform',
]

/** What documents share. Each document takes those that it points at. */
export const sharedModels: Components = {
  ...discovery,
  [meta('DeleteOptions')]: deleteOptions,
  [meta('FieldsV1')]: anything('Fields as a tree: `f:` before names, `k:` before keys of list items.'),
  [meta('ListMeta')]: listMeta,
  ...Object.fromEntries(
    Object.entries(metaStructs).map(([name, struct]) => [meta(name), metadataModel(struct)]),
  ),
  [meta('Patch')]: {
    type: 'object',
    description: 'Changes of an object, in the form that Content-Type says.',
  },
  [meta('Preconditions')]: object('What must be so, else nothing is done.', {
    resourceVersion: string('The resourceVersion the object must have.'),
    uid: string('The UID the object must have.'),
  }),
  [meta('Status')]: {
    ...status,
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Status' }],
  },
  [meta('StatusCause')]: object('One problem.', {
    field: string('The path of the field.'),
    message: string('What is wrong, for people.'),
    reason: string('What is wrong, as one word in CamelCase.'),
  }),
  [meta('StatusDetails')]: statusDetails,
  [meta('Time')]: { type: 'string', format: 'date-time', description: 'A time as RFC 3339 writes it.' },
  [versionModel]: object(
    'What this server is.',
    Object.fromEntries(versionFields.map(field => [field, text])),
    { required: versionFields },
  ),
}
