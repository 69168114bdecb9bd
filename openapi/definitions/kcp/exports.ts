import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { kindSchema, list, listMap, object, rules, set, string } from '../fields.ts'
import { kcpConditions } from '../fragments.ts'
import {
  claimV1,
  claimV2,
  endpointSliceStatus,
  exportReference,
  kcpKind,
  secretReference,
  served,
  stored,
  unchangingExport,
} from './fragments.ts'

const identity = object('Identity of the APIExport.', {
  secretRef: secretReference(
    'Secret that holds the identity under key. If unset, a Secret with the name of the APIExport is created.',
  ),
})

const maximalPermissionPolicy = object(
  'Upper bound of the permissions of API consumers on the exported resources. No bound if unset.',
  {
    local: {
      type: 'object',
      description:
        'Takes the policy from RBAC objects in the workspace of the APIExport, whose subjects have the prefix apis.kcp.io:binding:.',
    },
  },
  { oneOf: [{ required: ['local'] }] },
)

const description = 'APIExport exports resources to other workspaces, which bind them with an APIBinding.'

const status = object('Observed state.', {
  conditions: kcpConditions,
  identityHash: string('Hash of the identity. Immutable once set.'),
  virtualWorkspaces: list(
    'URLs of the virtual workspace of the APIExport. Deprecated: use APIExportEndpointSlice.',
    object(
      'A URL of the virtual workspace.',
      { url: string('URL of the virtual workspace.', { minLength: 1 }) },
      { required: ['url'] },
    ),
  ),
})

const v1alpha1 = kindSchema(description, {
  spec: object('Desired state.', {
    identity,
    latestResourceSchemas: set('Names of the APIResourceSchemas that new APIBindings bind.'),
    maximalPermissionPolicy,
    permissionClaims: listMap(
      'Permissions that the API provider requests in the workspaces of API consumers, in addition to the exported resources.',
      ['group', 'resource'],
      claimV1({ default: '' }),
    ),
  }),
  status,
})

const storage = object(
  'Storage of the objects of the resource.',
  {
    crd: {
      type: 'object',
      description: 'Stores the objects in the workspace of the APIBinding, like custom resources.',
    },
    virtual: object(
      'Forwards requests to a virtual workspace.',
      {
        identityHash: string('Identity hash of the resource in that virtual workspace.'),
        reference: object(
          'Endpoint slice whose status lists the URLs of the virtual workspace.',
          {
            apiGroup: string('API group of the endpoint slice. The core group if unset.'),
            kind: string('Kind of the endpoint slice.'),
            name: string('Name of the endpoint slice.'),
          },
          { required: ['kind', 'name'], 'x-kubernetes-map-type': 'atomic' },
        ),
      },
      { required: ['identityHash', 'reference'] },
    ),
  },
  {
    default: { crd: {} },
    oneOf: [{ required: ['crd'] }, { required: ['virtual'] }],
    ...rules(['has(self.crd) != has(self.virtual)', 'Exactly one of crd or virtual must be set']),
  },
)

const v1alpha2 = kindSchema(description, {
  spec: object('Desired state.', {
    identity,
    maximalPermissionPolicy,
    permissionClaims: listMap(
      'Permissions that the API provider requests in the workspaces of API consumers, in addition to the exported resources.',
      ['group', 'resource'],
      claimV2(),
    ),
    resources: listMap(
      'Resources that new APIBindings bind.',
      ['name', 'group'],
      object(
        'An exported resource.',
        {
          group: string('API group of the resource. "" is the core group.'),
          name: string('Plural name of the resource.'),
          schema: string('Name of the APIResourceSchema, in the form <prefix>.<name>.<group>.'),
          storage,
        },
        { required: ['group', 'name', 'schema'] },
      ),
    ),
  }),
  status,
})

export const apiExport: KindDefinition = kcpKind('apis.kcp.io', 'APIExport', [
  served('v1alpha1', {
    schema: v1alpha1,
    columns: [crdAge, path('Ready', '.status.conditions[?(@.type=="VirtualWorkspaceURLsReady")].status')],
    status: true,
  }),
  stored('v1alpha2', { schema: v1alpha2, columns: [crdAge], status: true }),
])

export const apiExportEndpointSlice: KindDefinition = kcpKind('apis.kcp.io', 'APIExportEndpointSlice', [
  stored('v1alpha1', {
    schema: kindSchema('APIExportEndpointSlice lists the URLs of the virtual workspace of an APIExport.', {
      spec: object(
        'Desired state.',
        {
          export: exportReference('APIExport whose endpoints are listed. Immutable.', unchangingExport),
          partition: string('Name of the Partition whose shards are listed. All shards are listed if unset.'),
        },
        { required: ['export'] },
      ),
      status: endpointSliceStatus,
    }),
    columns: [path('Export', '.spec.export.name'), path('Partition', '.spec.partition'), crdAge],
    status: true,
  }),
])
