import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import {
  apisGroup,
  cacheGroup,
  coreGroup,
  migrationGroup,
  mountsGroup,
  tenancyGroup,
  topologyGroup,
} from '../../kcp/apigroups.ts'
import {
  externalLogicalClusterAdmin,
  kcpAdmin,
  logicalClusterAdmin,
  workspaceBootstrapper,
} from '../../kcp/users.ts'
import {
  any,
  clusterRole,
  defaultBinding,
  defaultRole,
  everything,
  groupBinding,
  pathRule,
  read,
  rule,
} from '../manifests/rbac.ts'
import { adminRules, editRules, viewRules } from './userroles.ts'

/**
 * The policy in `system:admin`, effective in every logical cluster: the default roles of Kubernetes
 * (`plugin/pkg/auth/authorizer/rbac/bootstrappolicy`) without those of nodes and controllers, and kcp's
 * (`pkg/authorization/bootstrap/policy.go`). The members of rules are sorted, as there.
 */
export const systemPolicy = (): readonly KubeObject[] => [...kubernetesPolicy(), ...kcpPolicy()].map(inOrder)

const inOrder = (object: KubeObject): KubeObject =>
  object.kind === 'ClusterRole'
    ? { ...object, rules: (object.rules as readonly PolicyRule[]).map(sortedRule) }
    : object

const sortedRule = (rule: PolicyRule): PolicyRule =>
  Object.fromEntries(
    Object.entries(rule).map(([name, values]: [string, readonly string[]]) => [name, values.toSorted()]),
  ) as unknown as PolicyRule

const aggregated = (to: string): { labels: Record<string, string> } => ({
  labels: { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' },
})

const health = ['/healthz', '/livez', '/readyz']
const version = ['/version', '/version/']

/** Service accounts may read the keys that verify their tokens. */
const discoveryOfKeys = (): readonly KubeObject[] => [
  defaultRole('system:service-account-issuer-discovery', [
    pathRule(
      ['get'],
      ['/.well-known/openid-configuration', '/openid/v1/jwks'].flatMap(path => [path, `${path}/`]),
    ),
  ]),
  defaultBinding('system:service-account-issuer-discovery', ['system:serviceaccounts']),
]

const kubernetesPolicy = (): readonly KubeObject[] => [
  defaultRole('cluster-admin', everything),
  defaultRole('system:aggregate-to-admin', adminRules, aggregated('admin')),
  defaultRole('system:aggregate-to-edit', editRules, aggregated('edit')),
  defaultRole('system:aggregate-to-view', viewRules, aggregated('view')),
  defaultRole('admin', [...editRules, ...viewRules, ...adminRules], { aggregates: 'admin' }),
  defaultRole('edit', [...editRules, ...viewRules], { aggregates: 'edit', ...aggregated('admin') }),
  defaultRole('view', viewRules, { aggregates: 'view', ...aggregated('edit') }),
  defaultRole('system:discovery', [
    pathRule(
      ['get'],
      ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...health, ...version],
    ),
  ]),
  defaultRole('system:public-info-viewer', [pathRule(['get'], [...health, ...version])]),
  defaultRole('system:basic-user', [
    rule(['create'], 'authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews']),
    rule(['create'], 'authentication.k8s.io', ['selfsubjectreviews']),
  ]),
  defaultRole('system:monitoring', [
    pathRule(
      ['get'],
      ['/flagz', '/metrics', '/metrics/slis', '/statusz', ...health, ...health.map(path => `${path}/*`)],
    ),
    rule(['get'], '', ['nodes/metrics']),
  ]),
  defaultRole('system:auth-delegator', [
    rule(['create'], 'authentication.k8s.io', ['tokenreviews']),
    rule(['create'], 'authorization.k8s.io', ['subjectaccessreviews']),
  ]),
  defaultBinding('cluster-admin', ['system:masters']),
  defaultBinding('system:discovery', ['system:authenticated']),
  defaultBinding('system:basic-user', ['system:authenticated']),
  defaultBinding('system:public-info-viewer', ['system:authenticated', 'system:unauthenticated']),
  defaultBinding('system:monitoring', ['system:monitoring']),
  ...discoveryOfKeys(),
]

/** Groups of kcp with a role and a binding of the same name. */
const sameNamed = [logicalClusterAdmin, externalLogicalClusterAdmin]

const externalAdminRules: readonly PolicyRule[] = [
  rule(['delete', 'update', 'get'], coreGroup, ['logicalclusters', 'logicalclusters/status']),
  rule(['delete', 'update', 'patch', 'get'], tenancyGroup, ['workspaces']),
  rule(['get'], '', ['serviceaccounts', 'secrets']),
  pathRule(['access'], ['/']),
  rule(['create'], 'authorization.k8s.io', ['subjectaccessreviews']),
  rule(read, apisGroup, ['apiexportendpointslices']),
  rule(['update', 'patch', 'get'], apisGroup, ['apiexportendpointslices/status']),
  rule(read, cacheGroup, ['clustercachedresourceendpointslices']),
  rule(['update', 'patch', 'get'], cacheGroup, ['clustercachedresourceendpointslices/status']),
  rule(['get'], tenancyGroup, ['workspaceauthenticationconfigurations']),
  rule(['create'], migrationGroup, ['logicalclusterdumps']),
  rule(['get', 'update', 'patch'], migrationGroup, [
    'logicalclustermigrations',
    'logicalclustermigrations/status',
  ]),
  rule(['list'], apisGroup, ['apibindings']),
  rule(['get'], apisGroup, ['apiexports', 'apiresourceschemas']),
  rule(['get', 'create'], 'apiextensions.k8s.io', ['customresourcedefinitions']),
]

const kcpPolicy = (): readonly KubeObject[] => [
  clusterRole('system:kcp:tenancy:reader', [
    rule(read, tenancyGroup, ['workspaces', 'workspacetypes']),
    rule(read, coreGroup, ['logicalclusters']),
  ]),
  clusterRole(workspaceBootstrapper, everything),
  clusterRole(logicalClusterAdmin, [
    rule(any, coreGroup, ['logicalclusters', 'logicalclusters/status']),
    rule(['delete', 'update', 'get'], tenancyGroup, ['workspaces']),
  ]),
  clusterRole(externalLogicalClusterAdmin, externalAdminRules),
  clusterRole('system:kcp:workspace:access', [pathRule(['access'], ['/'])]),
  clusterRole('system:kcp:metrics-reader', [pathRule(['get'], ['/metrics'])]),
  groupBinding('system:kcp:admin:cluster-admin', 'cluster-admin', [kcpAdmin]),
  groupBinding(workspaceBootstrapper, workspaceBootstrapper, [
    workspaceBootstrapper,
    `apis.kcp.io:binding:${workspaceBootstrapper}`,
  ]),
  ...sameNamed.map(name => groupBinding(name, name, [name])),
]

/** Roles and bindings in `root` for every authenticated user (kcp `config/root`). */
/** `homeCreators`: the groups whose users may have a home workspace. */
export const rootPolicy = (homeCreators: readonly string[]): readonly KubeObject[] => [
  ...rootRoles(),
  ...rootBindings(),
  groupBinding(
    'system:kcp:configured-group:home-clusterworkspace-create',
    'system:kcp:home-clusterworkspace-create',
    homeCreators,
  ),
]

const bindRole = (name: string, group = `${name}.kcp.io`): KubeObject =>
  clusterRole(`system:kcp:apiexport:${name}:bind`, [rule(['bind'], apisGroup, ['apiexports'], [group])])

const policyRole = (name: string, rules: readonly PolicyRule[]): KubeObject =>
  clusterRole(`system:kcp:apiexport:${name}:maximal-permission-policy`, rules)

const rootRoles = (): readonly KubeObject[] => [
  bindRole('tenancy'),
  bindRole('topology'),
  bindRole('mounts', mountsGroup),
  policyRole('tenancy', [
    rule(any, tenancyGroup, ['workspaces', 'workspacetypes', 'workspaceauthenticationconfigurations']),
    rule(['list', 'watch', 'get'], tenancyGroup, ['workspaces/status', 'workspacetypes/status']),
  ]),
  policyRole('kcp-admin', [rule(any, tenancyGroup, any)]),
  policyRole('topology', [rule(any, topologyGroup, ['partitions', 'partitionsets'])]),
  clusterRole('system:kcp:home-clusterworkspace-create', [
    rule(['get', 'create'], tenancyGroup, ['workspaces'], ['~']),
  ]),
  clusterRole('system:kcp:universal-workspacetype-use', [
    rule(['use'], tenancyGroup, ['workspacetypes'], ['universal', 'organization', 'team']),
  ]),
]

const authenticated: readonly string[] = ['system:authenticated']
const boundAuthenticated: readonly string[] = ['apis.kcp.io:binding:system:authenticated']
const boundAdmin: readonly string[] = ['apis.kcp.io:binding:system:kcp:admin']

/** Binding → role → groups. */
const rootBindings = (): readonly KubeObject[] => {
  const prefix = 'system:kcp:authenticated'
  const exported = (name: string): string => `system:kcp:apiexport:${name}`
  const policy = 'maximal-permission-policy'
  return [
    groupBinding('system:kcp:tenancy:authenticated:access', 'system:kcp:workspace:access', authenticated),
    groupBinding(`${prefix}:tenancy:reader`, 'system:kcp:tenancy:reader', authenticated),
    groupBinding(`${prefix}:apiexport:tenancy:bind`, `${exported('tenancy')}:bind`, authenticated),
    groupBinding(`${prefix}:apiexport:topology:bind`, `${exported('topology')}:bind`, authenticated),
    groupBinding(`${prefix}:apiexport:mounts:bind`, `${exported('mounts')}:bind`, authenticated),
    groupBinding(
      `${prefix}:apiexport:tenancy:${policy}`,
      `${exported('tenancy')}:${policy}`,
      boundAuthenticated,
    ),
    groupBinding(
      `${prefix}:apiexport:topology:${policy}`,
      `${exported('topology')}:${policy}`,
      boundAuthenticated,
    ),
    groupBinding(`${prefix}:apiexport:kcp-admin:${policy}`, `${exported('kcp-admin')}:${policy}`, boundAdmin),
    groupBinding(
      `${prefix}:universal-workspacetype-use`,
      'system:kcp:universal-workspacetype-use',
      authenticated,
    ),
  ]
}
