import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { kindSchema, object, oneOfStrings, string, time } from '../fields.ts'
import { kcpConditions } from '../fragments.ts'

const identity = object(
  'Identity with which requests are forwarded to the cluster.',
  {
    mode: oneOfStrings(
      'Impersonate impersonates the requesting user, with a prefix on its name and groups. Shared uses the user of the kubeconfig for all requests.',
      ['Impersonate', 'Shared'],
      { default: 'Impersonate' },
    ),
    prefix: string('Prefix of the names of impersonated users and groups.', {
      default: 'oriel:',
      minLength: 1,
      maxLength: 63,
    }),
  },
  { default: {} },
)

/** A Kubernetes cluster that can be mounted, with spec and status as in kcp-dev/contrib. */
export const kubeCluster: KindDefinition = {
  group: 'mounts.contrib.kcp.io',
  names: {
    kind: 'KubeCluster',
    listKind: 'KubeClusterList',
    singular: 'kubecluster',
    plural: 'kubeclusters',
    categories: ['kcp', 'mounts'],
  },
  namespaced: false,
  versions: [
    {
      name: 'v1alpha1',
      served: true,
      storage: true,
      schema: kindSchema('KubeCluster describes a Kubernetes cluster that can be mounted as a workspace.', {
        metadata: { type: 'object' },
        spec: object(
          'Desired state.',
          {
            mode: oneOfStrings(
              'How the cluster is reached. Direct connects to the server of the kubeconfig.',
              ['Direct'],
              { default: 'Direct' },
            ),
            secretRef: object(
              'Secret that holds the kubeconfig for the cluster under the key kubeconfig.',
              {
                name: string('Name of the Secret.', { minLength: 1 }),
                namespace: string('Namespace of the Secret.', { minLength: 1, default: 'default' }),
              },
              { required: ['name'] },
            ),
            identity,
          },
          { required: ['secretRef'] },
        ),
        status: object(
          'Observed state.',
          {
            URL: string(
              'URL of the cluster. Requests to Workspaces that mount this object are forwarded to it.',
            ),
            phase: oneOfStrings(
              'Current phase. Requests are forwarded in phase Ready only.',
              ['Initializing', 'Connecting', 'Ready', 'Unknown'],
              {
                default: 'Initializing',
              },
            ),
            lastProxyHeartbeatTime: time('Last time the cluster answered, accurate to about one minute.'),
            conditions: kcpConditions,
          },
          { default: {} },
        ),
      }),
      columns: [path('Phase', '.status.phase'), path('URL', '.status.URL'), crdAge],
      status: true,
    },
  ],
}

/** Kinds whose objects can be mounted, and that have a controller here. */
export const mountKinds: readonly KindDefinition[] = [kubeCluster]
