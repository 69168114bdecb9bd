import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import {
  anything,
  atomicList,
  boolean,
  int32,
  int64,
  list,
  listMap,
  map,
  object,
  set,
  string,
} from '../definitions/fields.ts'
import { meta, versionModel } from './names.ts'
import { type Components, described, reference } from './schema.ts'

const text: JSONSchemaProps = { type: 'string' }
const time = (description: string): JSONSchemaProps => described(description, meta('Time'))

/** What every object has besides its kind: also what clients merge by (chapter 40, rule 5.13). */
const objectMeta = object('What every stored object has in common.', {
  annotations: map('Notes of tools, of any content.', text),
  creationTimestamp: time('When the object was created; set by the server.'),
  deletionGracePeriodSeconds: int64('How long deletion may take, in seconds; set by the server.'),
  deletionTimestamp: time('When deletion was asked for; set by the server.'),
  finalizers: set('What must be removed from here before the object is gone.', text, {
    'x-kubernetes-patch-strategy': 'merge',
  }),
  generateName: string('A prefix from which the server makes a unique name.'),
  generation: int64('Counts changes of what is wanted; set by the server.'),
  labels: map('Short values by which objects are selected.', text),
  managedFields: atomicList('Which client has set which fields.', reference(meta('ManagedFieldsEntry'))),
  name: string('The name; unique per resource and namespace.'),
  namespace: string('The namespace the object lives in.'),
  ownerReferences: listMap(
    'Objects with which this one is deleted.',
    ['uid'],
    reference(meta('OwnerReference')),
    { 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': 'uid' },
  ),
  resourceVersion: string('Changes with every write; only to be compared.'),
  selfLink: string('No longer used.'),
  uid: string('Tells objects apart that had the same name at different times; set by the server.'),
})

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
  [meta('ManagedFieldsEntry')]: object('What one client has set.', {
    apiVersion: string('The version in which the fields are named.'),
    fieldsType: string('FieldsV1'),
    fieldsV1: described('The fields.', meta('FieldsV1')),
    manager: string('The client.'),
    operation: string('Apply or Update.'),
    subresource: string('The subresource that was written.'),
    time: time('When the fields were last set.'),
  }),
  [meta('ObjectMeta')]: objectMeta,
  [meta('OwnerReference')]: object(
    'An object with which another one is deleted.',
    {
      apiVersion: string('Group and version of the owner.'),
      blockOwnerDeletion: boolean('Foreground deletion of the owner waits for this object.'),
      controller: boolean('Whether the owner manages this object.'),
      kind: string('Kind of the owner.'),
      name: string('Name of the owner.'),
      uid: string('UID of the owner.'),
    },
    { required: ['apiVersion', 'kind', 'name', 'uid'], 'x-kubernetes-map-type': 'atomic' },
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
