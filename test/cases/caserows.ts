import {
  attacks,
  cases,
  chain,
  e2e,
  impersonation,
  inAuthentication,
  inAuthorizer,
  inExport,
  life,
  list,
  type Places,
} from './places.ts'
import { rows } from './rows.ts'
import { rules, tried } from './securityrows.ts'

const order1 = 'let a webhook that is asked first close even health'
const isMember = 'lets the admin of a workspace list config maps'

const authorizer: Readonly<Record<string, Places>> = {
  'TestAuthorizationOrder, order 1': [[chain, 'leave out what they do not name', order1]],
  'TestAuthorizationOrder, order 2': [[chain, order1]],
  'TestAuthorizationOrder, default order': [
    [chain, 'ask a webhook last'],
    [e2e('authorization'), 'asks the webhook last'],
  ],
  'TestAuthorizer, workspace admin': inAuthorizer(isMember),
  'TestAuthorizer, non-admin, local policy': inAuthorizer('lets others do there what a local role says'),
  'TestAuthorizer, health endpoints': inAuthorizer('tells everybody about health'),
  'TestAuthorizer, no org access': inAuthorizer('closes a workspace to who is not in the groups'),
  'TestAuthorizer, other workspace': inAuthorizer('closes other workspaces, discovery included'),
  'TestAuthorizer, wildcard': inAuthorizer('opens all clusters at once to system:masters'),
  'TestAuthorizer, system:admin ClusterRole': inAuthorizer('finds roles of system:admin by bindings'),
  'TestAuthorizer, deep SAR': inAuthorizer('answers deep reviews by RBAC alone'),
  'TestAuthorizer, SSRR': inAuthorizer('lists the rules of who has access, and roles of system:admin'),
  TestSubjectAccessReview: [[e2e('reviews'), 'The table of kcp’s TestSubjectAccessReview']],
  ...Object.fromEntries(
    [
      'TestImpersonation',
      'TestImpersonateScoping',
      'TestRootCACertConfigmap',
      'TestSelfSubjectRulesReview',
      'TestServiceAccounts',
      'TestShardMetricsEndpoint',
      'TestWorkspaces',
    ].map(name => [name, inAuthorizer(name)]),
  ),
}

const proxied: Readonly<Record<string, Places>> = Object.fromEntries(
  (rows['30 7.3'] ?? []).map(name => [name, [[cases('proxy'), name]]]),
)
const authentication: Readonly<Record<string, Places>> = Object.fromEntries(
  (rows['30 7.4'] ?? []).map(name => [name, inAuthentication(name)]),
)

const elsewhere = 'binds what others export to that workspace'
const confined: Readonly<Record<string, Places>> = {
  TestWorkspaceAuth: inAuthentication(elsewhere, 'TestWorkspaceAuth: a user of its issuer'),
  TestServiceAccount: inAuthentication(elsewhere, 'TestServiceAccount: a service account'),
  TestScopedUser: inAuthentication(elsewhere, 'TestScopedUser: who is confined to it'),
  TestUserWithWarrants: inAuthentication(elsewhere, 'TestUserWithWarrants: who has a warrant besides'),
}

const tree = 'framework/contract/workspacetree.test.ts'
const edge = e2e('frontproxy')

/** Tables of unit tests. */
const units: Readonly<Record<string, Places>> = {
  'index, several shards': [
    [edge, 'reach workspaces of either shard', 'find new workspaces, and lose deleted ones'],
  ],
  'index, relative paths from an id': [[tree, 'walks from a cluster that exists']],
  'index, Scheduling': [[tree, 'forgets workspaces that are gone or being scheduled']],
  'index, mounts': [[tree, 'lead out of the tree, and nothing lies below them']],
  'index, Unavailable': [
    [tree, 'is closed at and below an unavailable workspace', 'follow the table of phases'],
  ],
  'index, deletion': [[e2e('sharding'), 'loses deleted workspaces at once']],
  'index, deletion of a shard': [[edge, 'forget a shard that is gone']],
  'lookup in /services/ paths': [
    ['framework/request/path.test.ts', 'read what they write', 'take no workspace paths'],
  ],
  authheaders: [list, [cases('proxy'), 'who asks is who has been authenticated']],
  'required groups': [[chain, 'required groups', 'count those of warrants']],
  'content by phase and kind of user': [
    ['authz/chain/authorizer.test.ts', 'a workspace in phase'],
    [chain, 'lifecycle groups'],
  ],
  decorators: [[chain, 'tells of every step what it said, as kcp does in its audit annotations']],
  'resolver of effective users': [
    ['authz/rbac/effectiveusers.test.ts', 'by warrants:', 'out of scope are nobody'],
  ],
  'impersonation matrix': [
    [impersonation, 'refuses ', 'asks for every part of the identity'],
    ['framework/impersonation/modes.test.ts', 'for some requests only'],
  ],
  'impersonation gatekeeper': [[impersonation, 'lets nobody into a group']],
  'impersonation scoping': [
    [impersonation, 'can narrow where'],
    [e2e('impersonation'), 'is confined to the workspace'],
  ],
  'shard-level paths': inAuthorizer('TestShardMetricsEndpoint'),
  migrating:
    'kcp moves logical clusters behind a gate that is off by default; nothing here ever is being migrated',
  'cluster names': [['framework/request/path.test.ts', 'cluster names']],
  invariant: [[attacks, 'by no way of writing their URL']],
  'filters of groups and extra': [
    ['proxy/mapping.test.ts', 'lose those that nobody gets from outside'],
    [cases('authentication'), 'TestUserScope'],
  ],
  'types of other shards': [
    [cases('shards'), 'knows users of issuers that a type on the other shard trusts'],
  ],
  'metrics of the proxy': [[edge, 'measure what they do, for those who may read it']],
  'home cluster names': [['kcp/names.test.ts', 'v1u4alow0iv9']],
}

const exportCases: Readonly<Record<string, Places>> = {
  ...Object.fromEntries((rows['10 13.1'] ?? []).map(name => [name, inExport(`${name}:`)])),
  TestAPIExportVirtualWorkspace: [
    [
      e2e('verbs'),
      'does through a view what a role on its content says, verb by verb',
      'needs the same verbs for a status',
    ],
    ['test/e2e/apiexport.ts', 'creates, reads, updates, patches and deletes', 'deletes a collection'],
  ],
  TestAPIExportOpenAPI_MultipleKinds: inExport(
    'documents are there for what is served, and for several kinds',
  ),
  TestAPIBindingPermissionClaimsVerbs: inExport('TestAPIBindingPermissionClaimsVerbs and …SSA'),
  TestAPIBindingPermissionClaimsSSA: inExport('TestAPIBindingPermissionClaimsVerbs and …SSA'),
  TestAPIExportPermissionClaimsVirtualWorkspaceAcrossShards: [
    [cases('shards'), 'TestAPIExportPermissionClaimsVirtualWorkspaceAcrossShards'],
  ],
}

const served = 'serve logical clusters and nothing else over all clusters'
const initializing: Readonly<Record<string, Places>> = {
  Discovery: [[life, served]],
  Access: [[life, 'show an initializer what waits for it', 'let a controller prepare', 'act as the owner']],
  InitializerPermissions: [
    [life, 'let a controller prepare each new workspace'],
    ['test/model/views.test.ts', 'every verb'],
  ],
}
const terminating: Readonly<Record<string, Places>> = {
  Discovery: [[life, served]],
  Access: [[life, 'show a terminator what waits for it', 'let a controller clean up']],
  Watch: [[life, 'show a terminator what waits for it']],
  WatchBookmark: [['test/model/views.test.ts', 'show exactly the objects']],
  ContentAccess: [[life, 'let a controller clean up in each workspace that goes']],
  TerminatorPermissions: [
    [life, 'let a controller clean up'],
    ['test/model/views.test.ts', 'every verb'],
  ],
}

const schemas = 'test/e2e/apiresourceschema.ts'
const schemaCases: Readonly<Record<string, Places>> = {
  Discovery: [[schemas, 'is discovered as one read-only resource']],
  Access: [[schemas, 'shows the schemas behind the consumer’s bindings, and no others']],
  ReadOnly: [[schemas, 'and only to be read']],
  MultipleBindings: [[schemas, 'watches what comes and goes with bindings']],
  Authorization: [[schemas, 'is for those who may read the consumer’s bindings']],
}

const published = 'test/e2e/replication'

/** Where every row is tested. */
export const places: Readonly<Record<string, Readonly<Record<string, Places>>>> = {
  '30 6.2': rules,
  '30 6.3': tried,
  '30 7.1': authorizer,
  '30 7.2': {
    TestMountsMachinery: [
      [
        'test/e2e/mounts',
        'says where it leads',
        'goes with the phase of its object, and ends watches cleanly',
      ],
    ],
  },
  '30 7.3': proxied,
  '30 7.4': authentication,
  '30 7.5': confined,
  '30 7.6': units,
  '10 13.1': exportCases,
  '10 13.2': initializing,
  '10 13.3': terminating,
  '10 13.4': schemaCases,
  '10 13.5': {
    TestClusterCachedResourceVirtualWorkspace: [
      [published, 'shows what is published', 'watches what comes', 'in the view for whom the export lets'],
    ],
  },
  '10 13.6': {
    clustercachedresources: [
      [published, 'is in the consumer for its members', 'cannot be written, by anybody'],
    ],
    logicalclustermigration: [
      ['test/e2e/migratingworkspaces.ts', 'is for other shards only', 'tells nothing of a logical cluster'],
    ],
  },
}
