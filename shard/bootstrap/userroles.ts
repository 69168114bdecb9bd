import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import { read, rule, write } from '../manifests/rbac.ts'

// The rules of the roles admin, edit and view (`plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`).

const readWrite = [...read, ...write].toSorted()
const apps = ['deployments', 'replicasets', 'statefulsets']
const scales = apps.map(resource => `${resource}/scale`)
const statuses = (resources: readonly string[]) => resources.map(resource => `${resource}/status`)
const daemonSets = ['daemonsets', 'daemonsets/status']
/** Of the group `extensions`. */
const legacyApps = [
  'deployments',
  'deployments/scale',
  'ingresses',
  'networkpolicies',
  'replicasets',
  'replicasets/scale',
  'replicationcontrollers/scale',
]
const claims = ['resourceclaims', 'resourceclaimtemplates']
/** Of both groups that serve them. */
const events = (verbs: readonly string[]): PolicyRule => ({
  verbs,
  apiGroups: ['', 'events.k8s.io'],
  resources: ['events'],
})

export const viewRules: readonly PolicyRule[] = [
  rule(read, '', [
    'configmaps',
    'endpoints',
    'persistentvolumeclaims',
    'persistentvolumeclaims/status',
    'pods',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'serviceaccounts',
    'services',
    'services/status',
  ]),
  rule(read, '', [
    'bindings',
    'limitranges',
    'namespaces/status',
    'pods/log',
    'pods/status',
    'replicationcontrollers/status',
    'resourcequotas',
    'resourcequotas/status',
  ]),
  rule(read, '', ['namespaces']),
  events(read),
  rule(read, 'discovery.k8s.io', ['endpointslices']),
  rule(read, 'apps', ['controllerrevisions', ...daemonSets, ...apps, ...scales, ...statuses(apps)]),
  rule(read, 'autoscaling', ['horizontalpodautoscalers', 'horizontalpodautoscalers/status']),
  rule(read, 'batch', ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status']),
  rule(read, 'extensions', [
    ...daemonSets,
    ...legacyApps,
    ...statuses(['deployments', 'ingresses', 'replicasets']),
  ]),
  rule(read, 'policy', ['poddisruptionbudgets', 'poddisruptionbudgets/status']),
  rule(read, 'networking.k8s.io', ['ingresses', 'ingresses/status', 'networkpolicies']),
  rule(read, 'resource.k8s.io', [...claims, 'resourceclaims/status']),
]

const pods = ['pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy']

export const editRules: readonly PolicyRule[] = [
  rule(read, '', [...pods.slice(1), 'secrets', 'services/proxy']),
  rule(['impersonate'], '', ['serviceaccounts']),
  rule(write, '', pods),
  rule(['create'], '', ['pods/eviction']),
  rule(write, '', [
    'configmaps',
    'persistentvolumeclaims',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'secrets',
    'serviceaccounts',
    'services',
    'services/proxy',
  ]),
  rule(['create'], '', ['serviceaccounts/token']),
  events(write),
  rule(write, 'apps', ['daemonsets', 'deployments/rollback', ...apps, ...scales]),
  rule(write, 'autoscaling', ['horizontalpodautoscalers']),
  rule(write, 'batch', ['cronjobs', 'jobs']),
  rule(write, 'extensions', ['daemonsets', 'deployments/rollback', ...legacyApps]),
  rule(write, 'policy', ['poddisruptionbudgets']),
  rule(write, 'networking.k8s.io', ['ingresses', 'networkpolicies']),
  rule(readWrite, 'coordination.k8s.io', ['leases']),
  rule(write, 'resource.k8s.io', claims),
]

export const adminRules: readonly PolicyRule[] = [
  rule(['create'], 'authorization.k8s.io', ['localsubjectaccessreviews']),
  rule(readWrite, 'rbac.authorization.k8s.io', ['rolebindings', 'roles']),
]
