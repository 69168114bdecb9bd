import type { ClusterName } from '../../framework/meta/object.ts'
import type { PolicyRule } from './policyrule.ts'

/** A (Cluster)RoleBinding, as far as evaluation needs it. */
export interface Binding {
  readonly name: string
  readonly role: { readonly kind: 'ClusterRole' | 'Role'; readonly name: string }
}

/**
 * RBAC objects of all logical clusters, from memory. Bindings are found by subject, so that a decision costs what its
 * user is bound to and not what the cluster contains. Subjects are written as `subjects.ts` does.
 */
export interface RbacSource {
  clusterRole(cluster: ClusterName, name: string): readonly PolicyRule[] | undefined
  role(cluster: ClusterName, namespace: string, name: string): readonly PolicyRule[] | undefined
  clusterRoleBindings(cluster: ClusterName, subject: string): readonly Binding[]
  roleBindings(cluster: ClusterName, namespace: string, subject: string): readonly Binding[]
}
