import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { RbacSubject } from '../../authz/rbac/rbacsource.ts'
import type { Publication } from './publications.ts'
import type { Tree } from './tree.ts'

/** A few logical clusters and their RBAC and policies, as plain lists. */
export interface World {
  /** The existing ones, by name. */
  readonly clusters: Readonly<Record<string, { readonly phase: string; readonly required?: string }>>
  readonly roles: readonly Role[]
  readonly bindings: readonly RoleBinding[]
  /** The bootstrap policy of every server. */
  readonly policy: Rbac
  readonly exports: readonly Export[]
  readonly apiBindings: readonly Bound[]
  readonly configMaps: readonly ConfigMap[]
  readonly tree: Tree
  readonly publications: readonly Publication[]
}

export interface Rbac {
  readonly roles: readonly Role[]
  readonly bindings: readonly RoleBinding[]
}

export interface Role {
  readonly cluster: string
  /** '': a ClusterRole. */
  readonly namespace: string
  readonly name: string
  readonly rules: readonly PolicyRule[]
}

export interface RoleBinding {
  readonly cluster: string
  /** '': a ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly role: { readonly kind: 'ClusterRole' | 'Role'; readonly name: string }
  readonly subjects: readonly RbacSubject[]
}

export interface Claim {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly identityHash?: string
}

export interface Export {
  readonly cluster: string
  readonly name: string
  readonly identity: string
  readonly policy: 'none' | 'local'
  readonly claims: readonly Claim[]
}

export interface AcceptedClaim extends Claim {
  readonly state: 'Accepted' | 'Rejected'
  readonly selector: { readonly matchAll?: true; readonly matchLabels?: Readonly<Record<string, string>> }
}

export interface Bound {
  readonly cluster: string
  readonly name: string
  readonly to: { readonly cluster: string; readonly name: string }
  readonly resources: readonly {
    readonly group: string
    readonly resource: string
    readonly identity: string
  }[]
  readonly claims: readonly AcceptedClaim[]
}

export interface ConfigMap {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

export const systemAdmin = 'system:admin'
export const consumers = ['one', 'two', 'three'] as const
export const providers = ['maker', 'seller'] as const
export const names = [...consumers, ...providers]
export const everywhere = [...names, 'root', 'nowhere', systemAdmin, '*'] as const
export const namespaces = ['ns1', 'ns2'] as const
