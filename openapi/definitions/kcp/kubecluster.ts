import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { kindSchema, object, oneOfStrings, string, time } from '../fields.ts'
import { kcpConditions } from '../fragments.ts'

const identity = object(
  'Who the cluster sees.',
  {
    mode: oneOfStrings(
      'Impersonate acts for the caller, with a prefix before its name and groups. Shared is the user of the kubeconfig, whoever calls.',
      ['Impersonate', 'Shared'],
      { default: 'Impersonate' },
    ),
    prefix: string('Goes before the names of users and groups.', {
      default: 'oriel:',
      minLength: 1,
      maxLength: 63,
    }),
  },
  { default: {} },
)

/** A Kubernetes cluster that can be mounted; spec and status as in kcp's contrib repository (chapter 30, section 4.6). */
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
      schema: kindSchema('A Kubernetes cluster elsewhere that can be mounted as a workspace.', {
        metadata: { type: 'object' },
        spec: object(
          'What is wanted.',
          {
            mode: oneOfStrings('How the cluster is reached.', ['Direct'], { default: 'Direct' }),
            secretRef: object(
              'The Secret whose key `kubeconfig` says where the cluster is and how to log in.',
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
          'What was observed.',
          {
            URL: string('Where the cluster is reached; what mounts refer to.'),
            phase: oneOfStrings('Only Ready serves.', ['Initializing', 'Connecting', 'Ready', 'Unknown'], {
              default: 'Initializing',
            }),
            lastProxyHeartbeatTime: time('When the cluster last answered, to about a minute.'),
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

/** Kinds whose objects can be mounted, with a provider in this repository. */
export const mountKinds: readonly KindDefinition[] = [kubeCluster]
