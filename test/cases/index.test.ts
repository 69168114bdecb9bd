import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../support/oriel.ts'
import { root } from '../support/source.ts'

/** Where a case is tested: a file, and words of the titles of its tests. */
type Places = readonly (readonly [file: string, ...titles: readonly string[]])[]

const e2e = (name: string): string => `test/e2e/${name}.test.ts`
const attacks = e2e('attacks')
const list = [e2e('attacklist'), 'fails at the'] as const
const outbound = 'proxy/outbound.test.ts'
const jwt = 'framework/authn/jwt/jwt.test.ts'
const chain = 'authz/chain.test.ts'
const impersonation = 'framework/impersonate.test.ts'
const life = 'test/e2e/lifecycle.ts'

/** Chapter 30, section 6.2: what the reference does, and our rule. */
const rules: Readonly<Record<string, Places>> = {
  '6.2.1 Connection headers take nothing from an identity': [
    list,
    [e2e('authentication'), 'are not taken away by a Connection header'],
    [outbound, 'does not let a client remove what is added'],
  ],
  '6.2.2 mounts are passed on after authentication, without identity': [
    [e2e('mounts'), 'is for those who may enter its parent', 'does not tell the other side who asks'],
  ],
  '6.2.3 no server of our own network is reached by a URL': [
    ['framework/targets.test.ts', 'are not this machine', 'are looked up when they are connected to'],
  ],
  '6.2.4 where a workspace leads is not for its users to write': [
    [e2e('mounts'), 'never changes where it leads by itself'],
    ['shard/admission/kcp/kcp.test.ts', 'lets nobody choose the logical cluster'],
  ],
  '6.2.5 and 6: no workspace points at a foreign logical cluster': [
    [
      attacks,
      'by a workspace that points at a logical cluster which exists',
      'by a workspace that says who owns it',
    ],
  ],
  '6.2.7 a mount with a bad reference says so': [[e2e('mounts'), 'is clear about']],
  '6.2.8 warrants are worth what their bearer is': [
    list,
    [impersonation, 'checks who is in a warrant as if they were named themselves'],
  ],
  '6.2.9 groups of lifecycles are for who is in them': [
    [impersonation, 'lets nobody into a group of kcp’s who is not in it'],
  ],
  '6.2.10 required groups are asked of foreign service accounts': [
    [chain, 'are not asked of service accounts of the workspace, but of those of others'],
  ],
  '6.2.11 deep reviews are for direct members of system:masters': [
    ['authz/reviews.test.ts', 'are for system:masters'],
  ],
  '6.2.12 an export that is gone has no policy': [[chain, 'do not exist for an export']],
  '6.2.13 issuers of tenants are asked at public addresses, for a while': [
    [
      jwt,
      'of tenants’ issuers in our own networks are not looked at',
      'do not make us ask a dead issuer each time',
    ],
  ],
  '6.2.14 nobody’s request is no 500': [
    [e2e('authentication'), 'are refused without credentials as everybody is, and not with a 500'],
  ],
  '6.2.15 credentials go to nobody else': [[outbound, 'tells nobody who asks']],
  '6.2.16 issuers name nobody of the system': [[jwt, 'name nobody of the system']],
  '6.2.17 forged headers are cleared under every name': [
    [e2e('frontproxy'), 'let nobody through whom they do not know, and tell shards who it is'],
    [e2e('authentication'), 'are believed, by the names that are configured and no others'],
  ],
  '6.2.18 no workspace is chosen by what a token says unverified': [list],
  '6.2.19 nothing is redirected but by Redirect': [
    [outbound, 'brings its redirects home'],
    ['framework/tree.test.ts', 'redirect with what follows'],
  ],
  '6.2.20 metrics are for few': [['test/cases/authorizer.test.ts', 'TestShardMetricsEndpoint']],
  '6.2.21 rights end at once': [
    ['authz/authorizer.test.ts', 'end when they change or go'],
    ['framework/authn/serviceaccounts.test.ts', 'end with their account, at once'],
  ],
  '6.2.22 the audit log says which identity was allowed': [
    [e2e('authorization'), 'writes down who did what, and why it was allowed or not'],
  ],
  '6.2.23 the webhook is not asked about system:masters': [
    [chain, 'ask a webhook last by default, and never about system:masters'],
  ],
  '6.2.24 who is nobody learns of no workspace': [[e2e('mounts'), 'goes with the phase of its object']],
}

/** Chapter 30, section 6.3: attacks, as far as one line of `test/e2e/attacklist.ts` does not say them. */
const tried: Readonly<Record<string, Places>> = {
  '6.3.7 smuggling': [[e2e('identityattacks'), 'do not smuggle a second request']],
  '6.3.8 to 12: paths': [[attacks, 'by no way of writing their URL']],
  '6.3.14 and 15: claims': [
    [jwt, 'are refused unsigned, and signed with what is no secret', 'do not bring their own keys'],
    ['test/cases/authentication.test.ts', 'TestForbiddenSystemAccess', 'TestWorkspaceOIDC'],
  ],
  '6.3.16 issuers that are the server itself': [[jwt, 'has several issuers, each once']],
  '6.3.18 and 19: warrants': [
    [impersonation, 'refuses warrants without end', 'can narrow where an identity counts, and not widen it'],
    [attacks, 'by impersonation at home for what is decided elsewhere'],
  ],
  '6.3.20 mounts': [[e2e('kubecluster'), 'are refused where a kubeconfig reaches into this server']],
  '6.3.21 lifecycles': [[life, 'until it is done, and let it change nothing else']],
  '6.3.22 exports': [[attacks, 'does with it what the consumer has accepted and nothing more']],
  '6.3.23 metadata of the system': [
    [attacks, 'by labels that belong to the server', 'by the annotation that says'],
  ],
  '6.3.24 foreign logical clusters': [[attacks, 'by logical clusters']],
  '6.3.25 tokens': [
    [
      e2e('identityattacks'),
      'end with what a token is bound to, and a namespace of the same name is another one',
    ],
    [e2e('serviceaccounts'), 'lose their tokens with what these are bound to'],
  ],
  '6.3.26 certificates': [[e2e('authentication'), 'are refused when expired, for servers, without a name']],
  '6.3.27 oracles': [
    [e2e('identityattacks'), 'are answered alike, whether a workspace is there or not'],
    [attacks, 'by no answer that tells whether something is there'],
  ],
  '6.3.28 availability': [[attacks, 'does not stop the server']],
}

/** Chapter 30, section 7: what is tested elsewhere than in this folder. */
const asserted: Readonly<Record<string, Places>> = {
  '7.1 TestAuthorizationOrder': [
    [chain, 'let a webhook that is asked first close even health', 'leave out what they do not name'],
    [e2e('authorization'), 'asks the webhook last'],
  ],
  '7.1 TestSubjectAccessReview': [[e2e('reviews'), 'The table of kcp’s TestSubjectAccessReview']],
  '7.2 TestMountsMachinery': [
    [e2e('mounts'), 'says where it leads', 'goes with the phase of its object, and ends watches cleanly'],
  ],
  '7.3 TestIdentityHeaderInjectionDoesNotEscalate': [list],
  '7.6 index': [
    [
      'framework/tree.test.ts',
      'walks from a cluster that exists',
      'is closed at and below an unavailable workspace',
    ],
    [e2e('frontproxy'), 'find new workspaces, and lose deleted ones', 'forget a shard that is gone'],
  ],
  '7.6 proxy headers': [list],
  '7.6 authorization': [
    [chain, 'required groups', 'lifecycle groups', 'maximal permission policies'],
    ['authz/effectiveusers.test.ts', 'by warrants:', 'scopes'],
  ],
  '7.6 impersonation': [
    [impersonation, 'refuses ', 'lets nobody into a group', 'asks for every part of the identity'],
    [e2e('impersonation'), 'is confined to the workspace in which it was allowed'],
  ],
  '7.6 rewriters': [['shard/names.test.ts', 'v1u4alow0iv9']],
}

/** Chapter 10, section 13: likewise. */
const demanded: Readonly<Record<string, Places>> = {
  '13.1 TestAPIExportVirtualWorkspace': [
    [
      e2e('verbs'),
      'does through a view what a role on its content says, verb by verb',
      'needs the same verbs for a status',
    ],
    ['test/e2e/apiexport.ts', 'creates, reads, updates, patches and deletes', 'deletes a collection'],
  ],
  '13.2 initializingworkspaces: discovery, access, permissions': [
    [
      life,
      'serve logical clusters and nothing else over all clusters',
      'let a controller prepare each new workspace',
    ],
    [life, 'show an initializer what waits for it', 'act as the owner of the workspace'],
    ['test/model/views.test.ts', 'answer every verb as the oracle says'],
  ],
  '13.3 terminatingworkspaces: discovery, access, watches, permissions': [
    [life, 'let a controller clean up in each workspace that goes', 'show a terminator what waits for it'],
  ],
  '13.4 apiresourceschema: discovery, access, read-only, several bindings, authorization': [
    ['test/e2e/apiresourceschema.ts', 'is discovered as one read-only resource', 'is for those who may read'],
    ['test/e2e/apiresourceschema.ts', 'shows the schemas behind the consumer’s bindings, and no others'],
  ],
  '13.5 replication': [
    [
      'test/e2e/replication.ts',
      'shows what is published',
      'watches what comes',
      'is in the consumer for its members',
    ],
  ],
  '13.6 virtual resources': [['test/e2e/replication.ts', 'cannot be written, by anybody']],
}

/** A title holds where the file has it, however its quotation marks are written. */
const holds = (text: string, title: string): boolean => plain(text).includes(plain(title))
const plain = (text: string): string => text.replaceAll(/[’']/g, '')

describe('each case of the chapters on authorization and views', () => {
  for (const [name, places] of Object.entries({ ...rules, ...tried, ...asserted, ...demanded }))
    it(`has its tests: ${name}`, async () => {
      for (const [file, ...titles] of places) {
        const path = join(root, file)
        assert.ok(existsSync(path), `${file} is gone`)
        const text = await readText(path)
        for (const title of titles) assert.ok(holds(text, title), `${file} has no test that says: ${title}`)
      }
    })
})
