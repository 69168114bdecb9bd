import type { KubeObject } from '../../framework/index.ts'
import type { Issuer } from './servers/issuer.ts'

const apiVersion = 'tenancy.kcp.io/v1alpha1'

/**
 * A WorkspaceType in root whose workspaces authenticate users of an issuer, as `oidc:<email>`, in groups `oidc:<group>`.
 */
export const trusting = (name: string, { url, ca }: Pick<Issuer, 'url' | 'ca'>): readonly KubeObject[] => [
  {
    apiVersion,
    kind: 'WorkspaceAuthenticationConfiguration',
    metadata: { name },
    spec: {
      jwt: [
        {
          issuer: { url, audiences: ['oriel'], certificateAuthority: ca },
          claimMappings: {
            username: { claim: 'email', prefix: 'oidc:' },
            groups: { claim: 'groups', prefix: 'oidc:' },
          },
        },
      ],
    },
  },
  {
    apiVersion,
    kind: 'WorkspaceType',
    metadata: { name },
    spec: {
      authenticationConfigurations: [{ name }],
      extend: { with: [{ name: 'universal', path: 'root' }] },
    },
  },
]
