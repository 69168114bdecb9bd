import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { kindSchema, object, oneOfStrings, rules, string } from '../fields.ts'
import { kcpConditions, labelSelector } from '../fragments.ts'
import {
  endpointSliceStatus,
  exportReference,
  kcpKind,
  secretReference,
  stored,
  unchangingExport,
  workspacePath,
} from './fragments.ts'

const counts = object(
  'Number of objects that are selected.',
  {
    cache: { type: 'integer', description: 'Number of selected objects in the cache.' },
    local: { type: 'integer', description: 'Number of selected objects in the workspace.' },
  },
  { required: ['cache', 'local'] },
)

export const clusterCachedResource: KindDefinition = kcpKind('cache.kcp.io', 'ClusterCachedResource', [
  stored('v1alpha1', {
    schema: kindSchema(
      'ClusterCachedResource publishes the objects of a resource, so that other workspaces can read them.',
      {
        spec: object(
          'Desired state.',
          {
            group: string('API group of the resource. "" is the core group.', {
              pattern: '^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$',
            }),
            identity: object('Identity of the published resource.', {
              secretRef: secretReference(
                'Secret that holds the identity under key. If unset, a Secret with the name of this object is created.',
              ),
            }),
            labelSelector: labelSelector(
              'Label selector for the objects to publish. All objects are published if unset.',
            ),
            resource: string('Plural name of the resource.', { pattern: '^[a-z][-a-z0-9]*[a-z0-9]$' }),
            version: string('API version of the resource.'),
          },
          { required: ['resource'] },
        ),
        status: object('Observed state.', {
          conditions: kcpConditions,
          identityHash: string('Hash of the identity. Immutable once set.'),
          phase: oneOfStrings(
            'Current phase.',
            ['Scheduling', 'Initializing', 'Ready', 'Deleting', 'Deleted'],
            { default: 'Initializing' },
          ),
          resourceCounts: counts,
        }),
      },
      { required: ['spec'] },
    ),
    columns: [path('Resource', '.spec.resource', 'Resource type being published'), crdAge],
    status: true,
  }),
])

const cachedResourceReference = object(
  'ClusterCachedResource whose endpoints are listed. Immutable.',
  {
    name: string('Name of the ClusterCachedResource.'),
    path: workspacePath('Path of the workspace of the ClusterCachedResource. Defaults to this workspace.'),
  },
  {
    required: ['name'],
    ...rules(['self == oldSelf', 'ClusterCachedResource reference must not be changed']),
  },
)

export const clusterCachedResourceEndpointSlice: KindDefinition = kcpKind(
  'cache.kcp.io',
  'ClusterCachedResourceEndpointSlice',
  [
    stored('v1alpha1', {
      schema: kindSchema(
        'ClusterCachedResourceEndpointSlice lists the URLs at which shards read the objects of a ClusterCachedResource.',
        {
          spec: object(
            'Desired state.',
            {
              clusterCachedResource: cachedResourceReference,
              export: exportReference('APIExport that exports the resource. Immutable.', unchangingExport),
              partition: string(
                'Name of the Partition whose shards are listed. All shards are listed if unset.',
              ),
            },
            { required: ['clusterCachedResource', 'export'] },
          ),
          status: endpointSliceStatus,
        },
      ),
      columns: [path('ClusterCachedResource', '.spec.clusterCachedResource.name'), crdAge],
      status: true,
    }),
  ],
)
