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

const identity = object('Where the secret identity of this export is kept.', {
  secretRef: secretReference(
    'The Secret with the identity under `key`; made with the name of the export if unset.',
  ),
})

const maximalPermissionPolicy = object(
  'An upper bound of what consumers may do with the exported resources; no bound if unset.',
  {
    local: {
      type: 'object',
      description: 'RBAC in the workspace of this export, with subjects prefixed `apis.kcp.io:binding:`.',
    },
  },
  { oneOf: [{ required: ['local'] }] },
)

const description = 'Offers resources to other workspaces, which bind them with an APIBinding.'

const status = object('What was observed.', {
  conditions: kcpConditions,
  identityHash: string('The hash of the identity; never changes once set.'),
  virtualWorkspaces: list(
    'URLs of the virtual workspace of this export. APIExportEndpointSlices replace it.',
    object('One URL.', { url: string('The URL.', { minLength: 1 }) }, { required: ['url'] }),
  ),
})

const v1alpha1 = kindSchema(description, {
  spec: object('What is wanted.', {
    identity,
    latestResourceSchemas: set('Names of the APIResourceSchemas that new bindings get.'),
    maximalPermissionPolicy,
    permissionClaims: listMap(
      'What the provider asks for in addition to the exported resources.',
      ['group', 'resource'],
      claimV1({ default: '' }),
    ),
  }),
  status,
})

const storage = object(
  'Where objects of the resource are kept.',
  {
    crd: { type: 'object', description: 'In the workspace that binds the export, like custom resources.' },
    virtual: object(
      'Elsewhere: requests are passed on to a virtual workspace.',
      {
        identityHash: string('The identity of the resource there.'),
        reference: object(
          'The object whose status has the URL of that virtual workspace.',
          {
            apiGroup: string('Group of the object; core if unset.'),
            kind: string('Kind of the object.'),
            name: string('Name of the object.'),
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
  spec: object('What is wanted.', {
    identity,
    maximalPermissionPolicy,
    permissionClaims: listMap(
      'What the provider asks for in addition to the exported resources.',
      ['group', 'resource'],
      claimV2(),
    ),
    resources: listMap(
      'The resources that new bindings get.',
      ['name', 'group'],
      object(
        'One resource.',
        {
          group: string('The API group of the resource; "" is the core group.'),
          name: string('The plural name of the resource.'),
          schema: string('The name of its APIResourceSchema: `<prefix>.<name>.<group>`.'),
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
    schema: kindSchema('The URLs under which the provider of an export reaches its consumers.', {
      spec: object(
        'What is wanted.',
        {
          export: exportReference('The export.', unchangingExport),
          partition: string('The Partition whose shards are covered; all shards if unset.'),
        },
        { required: ['export'] },
      ),
      status: endpointSliceStatus,
    }),
    columns: [path('Export', '.spec.export.name'), path('Partition', '.spec.partition'), crdAge],
    status: true,
  }),
])
