import type { KubeObject } from '../../../framework/meta/object.ts'
import { age, computed, createdAt, fieldsOf, itemsOf, textOf } from '../columns.ts'
import type { KindVersion } from '../definition.ts'
import { atomicList, atomicObject, kindSchema, object, string } from '../fields.ts'
import { labelSelector, policyRule } from '../fragments.ts'
import { builtin } from './kind.ts'

const group = 'rbac.authorization.k8s.io'
/** That there are verbs is for the kind's own rules to say, in upstream's words. */
const { required: _, ...rule } = policyRule
/** Go writes a list without a value as null. */
const rules = { ...atomicList('What the role allows.', rule), nullable: true }

export const roles = builtin({
  group,
  kind: 'Role',
  namespaced: true,
  schema: kindSchema('Permissions in one namespace.', { rules }),
  columns: [createdAt],
})

export const clusterRoles = builtin({
  group,
  kind: 'ClusterRole',
  schema: kindSchema('Permissions in all namespaces, on cluster-scoped resources and on URLs.', {
    aggregationRule: object('Fills rules from other ClusterRoles.', {
      clusterRoleSelectors: atomicList('Which ClusterRoles.', labelSelector('Some ClusterRoles.')),
    }),
    rules,
  }),
  columns: [createdAt],
})

const roleRef = atomicObject(
  'The role; never changes.',
  {
    apiGroup: string('Group of the role.', { default: group }),
    kind: string('Role or ClusterRole.'),
    name: string('Name of the role.'),
  },
  { required: ['kind', 'name'] },
)
const subjects = atomicList(
  'Who gets the permissions.',
  atomicObject(
    'A user, a group or a service account.',
    {
      apiGroup: string('Group of the subject: "" for service accounts, else rbac.authorization.k8s.io.'),
      kind: string('User, Group or ServiceAccount.'),
      name: string('Name of the subject.'),
      namespace: string('Namespace of a service account.'),
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
  computed(['Role', 'string', 'The role that is granted.'], role),
  age,
  computed(['Users', 'string', 'Users that get it.'], o => subjectsOf(o, 'User'), 1),
  computed(['Groups', 'string', 'Groups that get it.'], o => subjectsOf(o, 'Group'), 1),
  computed(
    ['ServiceAccounts', 'string', 'Service accounts that get it.'],
    o => subjectsOf(o, 'ServiceAccount'),
    1,
  ),
]

export const roleBindings = builtin({
  group,
  kind: 'RoleBinding',
  namespaced: true,
  schema: bindingSchema('Gives a role to subjects, in one namespace.'),
  columns: bindingColumns,
})

export const clusterRoleBindings = builtin({
  group,
  kind: 'ClusterRoleBinding',
  schema: bindingSchema('Gives a ClusterRole to subjects, everywhere.'),
  columns: bindingColumns,
})
