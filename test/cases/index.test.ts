import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../support/oriel.ts'
import { root } from '../support/source.ts'
import { rows } from './rows.ts'

/** Where a row is tested: a file, and words of the titles of its tests. Or, in one line, why it cannot be. */
type Places = readonly (readonly [file: string, ...titles: readonly string[]])[] | string

const e2e = (name: string): string => `test/e2e/${name}.test.ts`
const cases = (name: string): string => `test/cases/${name}.test.ts`
const attacks = (section: string): string => `test/e2e/attacks/${section}.ts`
const list = [e2e('attacklist'), 'fails at the'] as const
const outbound = 'proxy/outbound.test.ts'
const jwt = 'framework/authn/jwt/jwt.test.ts'
const chain = 'authz/chain.test.ts'
const impersonation = 'framework/impersonate.test.ts'
const identity = e2e('identityattacks')
const life = 'test/e2e/lifecycle.ts'
const inAuthorizer = (...titles: readonly string[]): Places => [[cases('authorizer'), ...titles]]
const inAuthentication = (...titles: readonly string[]): Places => [[cases('authentication'), ...titles]]
const inExport = (...titles: readonly string[]): Places => [[cases('apiexport'), ...titles]]

/** What the reference does, and our rule. */
const rules: Readonly<Record<string, Places>> = {
  // Connection headers take nothing from an identity.
  1: [
    list,
    [e2e('authentication'), 'are not taken away by a Connection header'],
    [outbound, 'does not let a client remove what is added'],
  ],
  // Mounts are passed on after authentication, without identity.
  2: [[e2e('mounts'), 'is for those who may enter its parent', 'does not tell the other side who asks']],
  // No server of our own network is reached by a URL.
  3: [['framework/targets.test.ts', 'are not this machine', 'are looked up when they are connected to']],
  // Where a workspace leads is not for its users to write.
  4: [
    [e2e('mounts'), 'never changes where it leads by itself'],
    ['shard/admission/kcp/kcp.test.ts', 'lets nobody choose the logical cluster'],
  ],
  // No workspace points at a foreign logical cluster.
  5: [[attacks('system'), 'by a workspace that points at a logical cluster which exists']],
  6: [
    [attacks('system'), 'by a workspace that says who owns it'],
    [attacks('views'), 'by the annotation that says'],
  ],
  // A mount with a bad reference says so.
  7: [[e2e('mounts'), 'is clear about']],
  // Warrants are worth what their bearer is.
  8: [list, [impersonation, 'checks who is in a warrant as if they were named themselves']],
  // Groups of lifecycles are for who is in them.
  9: [[impersonation, 'lets nobody into a group of kcp’s who is not in it']],
  // Required groups are asked of foreign service accounts.
  10: [[chain, 'are not asked of service accounts of the workspace, but of those of others']],
  // Deep reviews are for direct members of system:masters.
  11: [['authz/reviews.test.ts', 'are for system:masters']],
  // An export that is gone has no policy.
  12: [[chain, 'do not exist for an export']],
  // Issuers of tenants are asked at public addresses, for a while.
  13: [
    [
      jwt,
      'of tenants’ issuers in our own networks are not looked at',
      'do not make us ask a dead issuer each time',
    ],
  ],
  // Nobody’s request is no 500.
  14: [[e2e('authentication'), 'are refused without credentials as everybody is, and not with a 500']],
  // Credentials go to nobody else.
  15: [[outbound, 'tells nobody who asks']],
  // Issuers name nobody of the system.
  16: [[jwt, 'name nobody of the system']],
  // Forged headers are cleared under every name.
  17: [
    [e2e('frontproxy'), 'let nobody through whom they do not know, and tell shards who it is'],
    [e2e('authentication'), 'are believed, by the names that are configured and no others'],
  ],
  // No workspace is chosen by what a token says unverified.
  18: [list],
  // Nothing is redirected but by Redirect.
  19: [
    [outbound, 'brings its redirects home'],
    ['framework/tree.test.ts', 'redirect with what follows'],
  ],
  // Metrics are for few.
  20: inAuthorizer('TestShardMetricsEndpoint'),
  // Rights end at once.
  21: [
    ['authz/authorizer.test.ts', 'end when they change or go'],
    ['framework/authn/serviceaccounts.test.ts', 'end with their account, at once'],
  ],
  // The audit log says which identity was allowed.
  22: [[e2e('authorization'), 'writes down who did what, and why it was allowed or not']],
  // The webhook is not asked about system:masters.
  23: [[chain, 'ask a webhook last by default, and never about system:masters']],
  // Who is nobody learns of no workspace.
  24: [[e2e('mounts'), 'goes with the phase of its object']],
}

/** Attacks: one line each in `test/e2e/attacklist.ts`, or what says it. */
const tried: Readonly<Record<string, Places>> = {
  1: [list, [identity, 'hide no identity in folded headers, in trailers']],
  2: [list],
  3: [list, [e2e('authentication'), 'are believed, by the names that are configured and no others']],
  4: [list],
  5: [list],
  6: [
    list,
    ['framework/authn/authn.test.ts', 'in any case of the scheme', 'refuses two Authorization headers'],
  ],
  7: [[identity, 'do not smuggle a second request']],
  8: [list, [attacks('clusters'), 'by no way of writing their URL']],
  9: [list, [attacks('clusters'), 'by no way of writing their URL']],
  10: [list, [identity, 'in an absolute URL']],
  11: [list],
  12: [list],
  13: [list, [attacks('clusters'), 'by no identity of an API']],
  14: [
    [jwt, 'name nobody of the system', 'must have the claims that are needed'],
    [cases('authentication'), 'TestForbiddenSystemAccess', 'TestUserScope'],
    ['openapi/cel/tokenexpressions.test.ts', 'ends what costs too much'],
  ],
  15: [
    [jwt, 'are refused unsigned, and signed with what is no secret', 'do not bring their own keys'],
    [jwt, 'are good with a new key, and not with a withdrawn one', 'are refused when over, not yet good'],
    [cases('authentication'), 'TestWorkspaceOIDC'],
    [e2e('authentication'), 'are known by what the configuration says now'],
  ],
  16: [[jwt, 'has several issuers, each once']],
  17: [list, [e2e('authentication'), 'are nobody elsewhere']],
  18: [
    list,
    [impersonation, 'refuses warrants without end', 'can narrow where an identity counts, and not widen it'],
    ['authz/effectiveusers.test.ts', 'end, however many warrants are sent'],
  ],
  19: [
    [attacks('identities'), 'by impersonation at home for what is decided elsewhere'],
    [life, 'act as the owner of the workspace'],
  ],
  20: [
    [e2e('kubecluster'), 'are refused where a kubeconfig reaches into this server'],
    [
      e2e('mountattacks'),
      'learns nothing about who asks',
      'sends nobody elsewhere',
      'gets no second request',
    ],
    [outbound, 'are noticed when a name is connected to'],
  ],
  21: [[life, 'until it is done, and let it change nothing else']],
  22: [[attacks('provider'), 'does with it what the consumer has accepted and nothing more']],
  23: [[attacks('views'), 'by labels that belong to the server', 'by the annotation that says']],
  24: [[attacks('system'), 'by logical clusters']],
  25: [
    list,
    [identity, 'end with what a token is bound to, and a namespace of the same name is another one'],
    [e2e('serviceaccounts'), 'lose their tokens with what these are bound to', 'have tokens for others'],
  ],
  26: [list, [e2e('authentication'), 'are refused when expired, for servers, without a name']],
  27: [
    [identity, 'are answered alike, whether a workspace is there or not'],
    [attacks('clusters'), 'by no answer that tells whether something is there'],
    [
      e2e('explain'),
      'in a workspace that is not his',
      'of the exports of others',
      'by a hint to who is inside',
    ],
  ],
  28: [
    [attacks('server'), 'does not stop the server'],
    [e2e('frontproxy'), 'forget a shard that is gone', 'pass watches on'],
    [jwt, 'wait for an issuer that is down'],
  ],
}

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

const tree = 'framework/tree.test.ts'
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
    ['framework/path.test.ts', 'read what they write', 'take no workspace paths'],
  ],
  authheaders: [list, [cases('proxy'), 'who asks is who has been authenticated']],
  'required groups': [[chain, 'required groups', 'count those of warrants']],
  'content by phase and kind of user': [
    ['authz/authorizer.test.ts', 'a workspace in phase'],
    [chain, 'lifecycle groups'],
  ],
  decorators: [[chain, 'tells of every step what it said, as kcp does in its audit annotations']],
  'resolver of effective users': [
    ['authz/effectiveusers.test.ts', 'by warrants:', 'out of scope are nobody'],
  ],
  'impersonation matrix': [
    [impersonation, 'refuses ', 'asks for every part of the identity', 'for some requests only'],
  ],
  'impersonation gatekeeper': [[impersonation, 'lets nobody into a group']],
  'impersonation scoping': [
    [impersonation, 'can narrow where'],
    [e2e('impersonation'), 'is confined to the workspace'],
  ],
  'shard-level paths': inAuthorizer('TestShardMetricsEndpoint'),
  migrating:
    'kcp moves logical clusters behind a gate that is off by default; nothing here ever is being migrated',
  'cluster names': [['framework/path.test.ts', 'cluster names']],
  invariant: [[attacks('clusters'), 'by no way of writing their URL']],
  'filters of groups and extra': [
    ['proxy/mapping.test.ts', 'lose those that nobody gets from outside'],
    [cases('authentication'), 'TestUserScope'],
  ],
  'types of other shards': [
    [cases('shards'), 'knows users of issuers that a type on the other shard trusts'],
  ],
  'metrics of the proxy': [[edge, 'measure what they do, for those who may read it']],
  'home cluster names': [['shard/names.test.ts', 'v1u4alow0iv9']],
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

const published = 'test/e2e/replication.ts'

const places: Readonly<Record<string, Readonly<Record<string, Places>>>> = {
  '30 6.2': rules,
  '30 6.3': tried,
  '30 7.1': authorizer,
  '30 7.2': {
    TestMountsMachinery: [
      [e2e('mounts'), 'says where it leads', 'goes with the phase of its object, and ends watches cleanly'],
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

/** A title holds where the file has it, however its quotation marks are written. */
const holds = (text: string, title: string): boolean => plain(text).includes(plain(title))
const plain = (text: string): string => text.replaceAll(/[’']/g, '')

async function check(where: Places | undefined): Promise<void> {
  assert.ok(where !== undefined && where.length > 0, 'no test is named')
  if (typeof where === 'string') return
  for (const [file, ...titles] of where) {
    const path = join(root, file)
    assert.ok(existsSync(path), `${file} is gone`)
    const text = await readText(path)
    for (const title of titles) assert.ok(holds(text, title), `${file} has no test that says: ${title}`)
  }
}

describe('each row of the chapters on authorization and views', () => {
  for (const [section, names] of Object.entries(rows)) {
    for (const row of names) it(`has its tests: ${section} ${row}`, () => check(places[section]?.[row]))

    it(`is a row of the chapter: ${section}`, () =>
      assert.deepEqual(
        Object.keys(places[section] ?? {}).filter(row => !names.includes(row)),
        [],
      ))
  }
})
