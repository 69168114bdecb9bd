import type { KubeObject } from '../../../framework/meta/object.ts'
import { age, computed, createdAt, fieldsOf, itemsOf, textOf } from '../columns.ts'
import type { KindVersion } from '../definition.ts'
import { atomicList, atomicObject, kindSchema, object, string } from '../fields.ts'
import { labelSelector, policyRule } from '../fragments.ts'
import { builtin } from './kind.ts'

const group = 'rbac.authorization.k8s.io'
/** Missing verbs are reported by the validation of roles, with the message of Kubernetes. */
const { required: _, ...rule } = policyRule
/** Go encodes a nil list as null. */
const rules = { ...atomicList('Rules of the role.', rule), nullable: true }

export const roles = builtin({
  group,
  kind: 'Role',
  namespaced: true,
  schema: kindSchema('Role grants permissions in one namespace.', { rules }),
  columns: [createdAt],
})

export const clusterRoles = builtin({
  group,
  kind: 'ClusterRole',
  schema: kindSchema(
    'ClusterRole grants permissions in all namespaces, on cluster-scoped resources and on non-resource URLs.',
    {
      aggregationRule: object(
        'Aggregates rules from other ClusterRoles. If set, rules are managed by the server.',
        {
          clusterRoleSelectors: atomicList(
            'Label selectors for the ClusterRoles whose rules are added.',
            labelSelector('Label selector for ClusterRoles.'),
          ),
        },
      ),
      rules,
    },
  ),
  columns: [createdAt],
})

const roleRef = atomicObject(
  'Reference to the role. Immutable.',
  {
    apiGroup: string('API group of the role.', { default: group }),
    kind: string('Kind of the role: Role or ClusterRole.'),
    name: string('Name of the role.'),
  },
  { required: ['kind', 'name'] },
)
const subjects = atomicList(
  'Users, groups and service accounts to which the role is granted.',
  atomicObject(
    'A user, a group or a service account.',
    {
      apiGroup: string(
        'API group of the subject. Defaults to "" for service accounts, and to rbac.authorization.k8s.io for users and groups.',
      ),
      kind: string('Kind of the subject: User, Group or ServiceAccount.'),
      name: string('Name of the subject.'),
      namespace: string('Namespace of the subject. For service accounts only.'),
    },
    { required: ['kind', 'name'] },
  ),
)

const bindingSchema = (description: string): KindVersion['schema'] =>
  kindSchema(description, { roleRef, subjects }, { required: ['roleRef'] })

function role(binding: KubeObject): string {
  const { kind, name } = fieldsOf(binding.roleRef)
  return `${textOf(kind)}/${textOf(name)}`
}
function subjectsOf(binding: KubeObject, kind: string): string {
  const names = itemsOf(binding.subjects)
    .filter(subject => subject.kind === kind)
    .map(({ namespace, name }) =>
      kind === 'ServiceAccount' ? `${textOf(namespace)}/${textOf(name)}` : textOf(name),
    )
  return names.join(', ')
}

const bindingColumns: KindVersion['columns'] = [
  computed(['Role', 'string', 'Role that is granted.'], role),
  age,
  computed(['Users', 'string', 'Users to which the role is granted.'], o => subjectsOf(o, 'User'), 1),
  computed(['Groups', 'string', 'Groups to which the role is granted.'], o => subjectsOf(o, 'Group'), 1),
  computed(
    ['ServiceAccounts', 'string', 'Service accounts to which the role is granted.'],
    o => subjectsOf(o, 'ServiceAccount'),
    1,
  ),
]

export const roleBindings = builtin({
  group,
  kind: 'RoleBinding',
  namespaced: true,
  schema: bindingSchema('RoleBinding grants a role to subjects in one namespace.'),
  columns: bindingColumns,
})

export const clusterRoleBindings = builtin({
  group,
  kind: 'ClusterRoleBinding',
  schema: bindingSchema('ClusterRoleBinding grants a ClusterRole to subjects in all namespaces.'),
  columns: bindingColumns,
})
