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
  'How many objects the selector finds.',
  { cache: { type: 'integer' }, local: { type: 'integer' } },
  { required: ['cache', 'local'] },
)

export const clusterCachedResource: KindDefinition = kcpKind('cache.kcp.io', 'ClusterCachedResource', [
  stored('v1alpha1', {
    schema: kindSchema(
      'Publishes the objects of a resource, to be read in other workspaces.',
      {
        spec: object(
          'What is wanted.',
          {
            group: string('The API group of the resource; "" is the core group.', {
              pattern: '^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$',
            }),
            identity: object('Where the secret identity of what is published is kept.', {
              secretRef: secretReference(
                'The Secret with the identity under `key`; made with the name of this object if unset.',
              ),
            }),
            labelSelector: labelSelector('The objects that are published; all if unset.'),
            resource: string('The plural name of the resource.', { pattern: '^[a-z][-a-z0-9]*[a-z0-9]$' }),
            version: string('The version of the resource.'),
          },
          { required: ['resource'] },
        ),
        status: object('What was observed.', {
          conditions: kcpConditions,
          identityHash: string('The hash of the identity; never changes once set.'),
          phase: oneOfStrings(
            'Where this is in its life.',
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
  'The ClusterCachedResource.',
  {
    name: string('The name of the ClusterCachedResource.'),
    path: workspacePath('The workspace of the ClusterCachedResource; the own one if unset.'),
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
      schema: kindSchema('The URLs under which shards read what is published.', {
        spec: object(
          'What is wanted.',
          {
            clusterCachedResource: cachedResourceReference,
            export: exportReference('The export that offers the resource.', unchangingExport),
            partition: string('The Partition whose shards are covered; all shards if unset.'),
          },
          { required: ['clusterCachedResource', 'export'] },
        ),
        status: endpointSliceStatus,
      }),
      columns: [path('ClusterCachedResource', '.spec.clusterCachedResource.name'), crdAge],
      status: true,
    }),
  ],
)
