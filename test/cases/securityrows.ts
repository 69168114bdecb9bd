import {
  attacks,
  cases,
  chain,
  e2e,
  identity,
  impersonation,
  inAuthorizer,
  jwt,
  life,
  list,
  outbound,
  type Places,
} from './places.ts'

/** What the reference does, and our rule. */
export const rules: Readonly<Record<string, Places>> = {
  // Connection headers take nothing from an identity.
  1: [
    list,
    ['test/e2e/authentication', 'are not taken away by a Connection header'],
    [outbound, 'does not let a client remove what is added'],
  ],
  // Mounts are passed on after authentication, without identity.
  2: [['test/e2e/mounts', 'is for those who may enter its parent', 'does not tell the other side who asks']],
  // No server of our own network is reached by a URL.
  3: [['framework/net/targets.test.ts', 'are not this machine', 'are looked up when they are connected to']],
  // Where a workspace leads is not for its users to write.
  4: [
    ['test/e2e/mounts', 'never changes where it leads by itself'],
    ['shard/admission/kcp/workspaces.test.ts', 'lets nobody choose the logical cluster'],
  ],
  // No workspace points at a foreign logical cluster.
  5: [[attacks, 'by a workspace that points at a logical cluster which exists']],
  6: [
    [attacks, 'by a workspace that says who owns it'],
    [attacks, 'by the annotation that says'],
  ],
  // A mount with a bad reference says so.
  7: [['test/e2e/mounts', 'is clear about']],
  // Warrants are worth what their bearer is.
  8: [list, [impersonation, 'checks who is in a warrant as if they were named themselves']],
  // Groups of lifecycles are for who is in them.
  9: [[impersonation, 'lets nobody into a group of kcp’s who is not in it']],
  // Required groups are asked of foreign service accounts.
  10: [[chain, 'are not asked of service accounts of the workspace, but of those of others']],
  // Deep reviews are for direct members of system:masters.
  11: [['authz/reviews/reviews.test.ts', 'are for system:masters']],
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
  14: [['test/e2e/authentication', 'are refused without credentials as everybody is, and not with a 500']],
  // Credentials go to nobody else.
  15: [[outbound, 'tells nobody who asks']],
  // Issuers name nobody of the system.
  16: [[jwt, 'name nobody of the system']],
  // Forged headers are cleared under every name.
  17: [
    [e2e('frontproxy'), 'let nobody through whom they do not know, and tell shards who it is'],
    ['test/e2e/authentication', 'are believed, by the names that are configured and no others'],
  ],
  // No workspace is chosen by what a token says unverified.
  18: [list],
  // Nothing is redirected but by Redirect.
  19: [
    [outbound, 'brings its redirects home'],
    ['framework/contract/workspacetree.test.ts', 'redirect with what follows'],
  ],
  // Metrics are for few.
  20: inAuthorizer('TestShardMetricsEndpoint'),
  // Rights end at once.
  21: [
    ['authz/chain/authorizer.test.ts', 'end when they change or go'],
    ['framework/authn/serviceaccounts.test.ts', 'end with their account, at once'],
  ],
  // The audit log says which identity was allowed.
  22: [[e2e('authorization'), 'writes down who did what, and why it was allowed or not']],
  // The webhook is not asked about system:masters.
  23: [[chain, 'ask a webhook last by default, and never about system:masters']],
  // Who is nobody learns of no workspace.
  24: [['test/e2e/mounts', 'goes with the phase of its object']],
}

/** Attacks: one line each in `test/e2e/attacklist/`, or what says it. */
export const tried: Readonly<Record<string, Places>> = {
  1: [list, [identity, 'hide no identity in folded headers, in trailers']],
  2: [list],
  3: [list, ['test/e2e/authentication', 'are believed, by the names that are configured and no others']],
  4: [list],
  5: [list],
  6: [
    list,
    ['framework/authn/authn.test.ts', 'in any case of the scheme', 'refuses two Authorization headers'],
  ],
  7: [[identity, 'do not smuggle a second request']],
  8: [list, [attacks, 'by no way of writing their URL']],
  9: [list, [attacks, 'by no way of writing their URL']],
  10: [list, [identity, 'in an absolute URL']],
  11: [list],
  12: [list],
  13: [list, [attacks, 'by no identity of an API']],
  14: [
    [jwt, 'name nobody of the system', 'must have the claims that are needed'],
    [cases('authentication'), 'TestForbiddenSystemAccess', 'TestUserScope'],
    ['openapi/expressions/tokenexpressions.test.ts', 'ends what costs too much'],
  ],
  15: [
    [jwt, 'are refused unsigned, and signed with what is no secret', 'do not bring their own keys'],
    [jwt, 'are good with a new key, and not with a withdrawn one', 'are refused when over, not yet good'],
    [cases('authentication'), 'TestWorkspaceOIDC'],
    ['test/e2e/authentication', 'are known by what the configuration says now'],
  ],
  16: [['framework/authn/jwt/authenticationconfig.test.ts', 'has several issuers, each once']],
  17: [list, ['test/e2e/authentication', 'are nobody elsewhere']],
  18: [
    list,
    [impersonation, 'refuses warrants without end', 'can narrow where an identity counts, and not widen it'],
    ['authz/rbac/effectiveusers.test.ts', 'end, however many warrants are sent'],
  ],
  19: [
    [attacks, 'by impersonation at home for what is decided elsewhere'],
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
  22: [[attacks, 'does with it what the consumer has accepted and nothing more']],
  23: [[attacks, 'by labels that belong to the server', 'by the annotation that says']],
  24: [[attacks, 'by logical clusters']],
  25: [
    list,
    [identity, 'end with what a token is bound to, and a namespace of the same name is another one'],
    [e2e('serviceaccounts'), 'lose their tokens with what these are bound to', 'have tokens for others'],
  ],
  26: [list, ['test/e2e/authentication', 'are refused when expired, for servers, without a name']],
  27: [
    [identity, 'are answered alike, whether a workspace is there or not'],
    [attacks, 'by no answer that tells whether something is there'],
    [
      e2e('explain'),
      'in a workspace that is not his',
      'of the exports of others',
      'by a hint to who is inside',
    ],
  ],
  28: [
    [attacks, 'does not stop the server'],
    [e2e('frontproxy'), 'forget a shard that is gone', 'pass watches on'],
    [jwt, 'wait for an issuer that is down'],
  ],
}
