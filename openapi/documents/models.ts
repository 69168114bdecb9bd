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

const listMeta = object('Metadata of a list.', {
  continue: string('Token that continues the list after this chunk. Empty in the last chunk.'),
  remainingItemCount: int64('Estimated number of objects after this chunk.'),
  resourceVersion: string('Resource version of the list, from which a watch can start.'),
  selfLink: string('Deprecated. Always empty.'),
})

const statusDetails = object('Details of an error.', {
  causes: atomicList('Causes of the error, such as invalid fields.', reference(meta('StatusCause'))),
  group: string('API group of the object.'),
  kind: string('Resource or kind of the object.'),
  name: string('Name of the object.'),
  retryAfterSeconds: int32('Time after which the request should be retried, in seconds.'),
  uid: string('UID of the object.'),
})

const status = object('Status is a return value for calls that do not return other objects.', {
  apiVersion: string('v1'),
  code: int32('HTTP status code of the response.'),
  details: {
    ...described('Details of the reason.', meta('StatusDetails')),
    'x-kubernetes-list-type': 'atomic',
  },
  kind: string('Status'),
  message: string('Human-readable description of the status.'),
  metadata: reference(meta('ListMeta')),
  reason: string('Machine-readable reason of a failure, in CamelCase.'),
  status: string('Status of the operation: Success or Failure.'),
})

const deleteOptions = object('DeleteOptions are the options of a DELETE request.', {
  apiVersion: string('API group and version of the options.'),
  dryRun: atomicList('If All, the request is processed, but nothing is deleted.'),
  gracePeriodSeconds: int64('Time before the object is deleted, in seconds.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: boolean(
    'If true, also deletes objects that cannot be read from the store.',
  ),
  kind: string('DeleteOptions'),
  orphanDependents: boolean('Deprecated. Use propagationPolicy.'),
  preconditions: described(
    'Conditions that must be met, else the request fails with a conflict.',
    meta('Preconditions'),
  ),
  propagationPolicy: string('How dependents are garbage collected: Orphan, Background or Foreground.'),
})

const groupVersion = object(
  'A version of an API group.',
  {
    groupVersion: string('API group and version, as <group>/<version>.'),
    version: string('Version, such as v1.'),
  },
  { required: ['groupVersion', 'version'] },
)
const serverAddress = object(
  'Server address for clients of a network.',
  {
    clientCIDR: string('CIDR of the network of the clients.'),
    serverAddress: string('Host name or IP address of the server, with an optional port.'),
  },
  { required: ['clientCIDR', 'serverAddress'] },
)
const groupFields = {
  apiVersion: string('v1'),
  kind: string('APIGroup'),
  name: string('Name of the group.'),
  preferredVersion: described(
    'Version that clients should use by default.',
    meta('GroupVersionForDiscovery'),
  ),
  serverAddressByClientCIDRs: atomicList(
    'Server addresses, by client CIDR.',
    reference(meta('ServerAddressByClientCIDR')),
  ),
  versions: atomicList('Versions of the group.', reference(meta('GroupVersionForDiscovery'))),
}

const apiResource = object(
  'An API resource.',
  {
    categories: atomicList('Categories of the resource, such as all.'),
    group: string('API group of the kind, if it differs from the group of the list.'),
    kind: string('Kind of the objects.'),
    name: string('Plural name of the resource.'),
    namespaced: boolean('Whether the resource is namespaced.'),
    shortNames: atomicList('Short names of the resource.'),
    singularName: string('Singular name of the resource.'),
    storageVersionHash: string('Hash of the version in which objects are stored.'),
    verbs: list('Supported verbs.'),
    version: string('Version of the kind, if it differs from the version of the list.'),
  },
  { required: ['name', 'singularName', 'namespaced', 'kind', 'verbs'] },
)

const discovery: Components = {
  [meta('APIGroup')]: object('An API group.', groupFields, { required: ['name', 'versions'] }),
  [meta('APIGroupList')]: object(
    'The list of API groups.',
    {
      apiVersion: string('v1'),
      groups: atomicList('API groups.', reference(meta('APIGroup'))),
      kind: string('APIGroupList'),
    },
    { required: ['groups'] },
  ),
  [meta('APIResource')]: apiResource,
  [meta('APIResourceList')]: object(
    'The list of resources of a group and version.',
    {
      apiVersion: string('v1'),
      groupVersion: string('API group and version, as <group>/<version>.'),
      kind: string('APIResourceList'),
      resources: atomicList('API resources.', reference(meta('APIResource'))),
    },
    { required: ['groupVersion', 'resources'] },
  ),
  [meta('APIVersions')]: object(
    'Versions of the core group.',
    {
      apiVersion: string('v1'),
      kind: string('APIVersions'),
      serverAddressByClientCIDRs: atomicList(
        'Server addresses, by client CIDR.',
        reference(meta('ServerAddressByClientCIDR')),
      ),
      versions: atomicList('API versions.'),
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

/** Models that documents share. Each document includes those that it references. */
export const sharedModels: Components = {
  ...discovery,
  [meta('DeleteOptions')]: deleteOptions,
  [meta('FieldsV1')]: anything(
    'A set of fields in JSON format. f:<name> is a field, k:<keys> is an item of a list.',
  ),
  [meta('ListMeta')]: listMeta,
  ...Object.fromEntries(
    Object.entries(metaStructs).map(([name, struct]) => [meta(name), metadataModel(struct)]),
  ),
  [meta('Patch')]: {
    type: 'object',
    description: 'A patch of an object, in the format of the Content-Type header.',
  },
  [meta('Preconditions')]: object('Conditions that must be met before an operation is carried out.', {
    resourceVersion: string('Required resource version of the object.'),
    uid: string('Required UID of the object.'),
  }),
  [meta('Status')]: {
    ...status,
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Status' }],
  },
  [meta('StatusCause')]: object('A cause of an error.', {
    field: string('Path of the field that caused the error.'),
    message: string('Human-readable description of the cause.'),
    reason: string('Machine-readable reason of the cause, in CamelCase.'),
  }),
  [meta('StatusDetails')]: statusDetails,
  [meta('Time')]: { type: 'string', format: 'date-time', description: 'Time in RFC 3339 format.' },
  [versionModel]: object(
    'Version information of the server.',
    Object.fromEntries(versionFields.map(field => [field, text])),
    { required: versionFields },
  ),
}
