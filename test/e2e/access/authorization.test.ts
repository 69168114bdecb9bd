import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gadgets } from '../../support/crds.ts'
import {
  compiled,
  discard,
  eventually,
  fromRoot,
  type Kubectl,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { startWebhook, type Webhook } from '../../support/servers/webhook.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import {
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../support/tenants.ts'

const tokens = 'alice-token,alice,1,"devs"\nbob-token,bob,2\ncarol-token,carol,3\n'
const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    userGroups: ["system:masters"]
  - level: RequestResponse
    resources: [{group: "", resources: [configmaps]}]
  - level: Metadata
`

describe('authorization, from outside', function () {
  this.timeout(180_000)
  this.slow(60_000)
  let oriel: Oriel
  let team: Tenant
  let other: Tenant
  let hook: Webhook
  let auditHook: Webhook
  let directory: string

  before(async () => {
    directory = await temporaryDirectory('authorization')
    hook = await startWebhook(({ spec }) => {
      const allowed = (spec as { user: string }).user === 'carol'
      return {
        kind: 'SubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        status: { allowed, reason: 'the hook says so' },
      }
    })
    auditHook = await startWebhook(() => ({}))
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(directory, name), text)
      return join(directory, name)
    }
    const args = [
      ...['--store', 'memory:', '--token-auth-file', await file('tokens.csv', tokens)],
      ...['--audit-policy-file', await file('policy.yaml', policy)],
      ...['--audit-log-path', join(directory, 'audit.log')],
      ...['--audit-webhook-config-file', await file('audit-hook.yaml', auditHook.kubeconfig)],
      ...['--authorization-webhook-config-file', await file('hook.yaml', hook.kubeconfig)],
      ...['--authorization-webhook-version', 'v1'],
    ]
    oriel = await startOriel({ directory, args })
    const tenants = await createWorkspaces(oriel, ['team', 'other'])
    ;[team, other] = tenants as [Tenant, Tenant]
    await team.kubectl([
      'create',
      'clusterrolebinding',
      'alice',
      '--clusterrole=cluster-admin',
      '--user=alice',
    ])
    await open(team.kubectl)
  })
  after(async () => {
    await discard(oriel)
    hook.close()
    auditHook.close()
  })

  const open = (kubectl: Kubectl) =>
    kubectl([
      'create',
      'clusterrolebinding',
      'open',
      '--clusterrole=system:kcp:workspace:access',
      '--group=system:authenticated',
    ])
  const as = (user: string, path: string, args: readonly string[], input = '') => {
    const ca = join(oriel.directory, 'ca.crt')
    const server = ['--kubeconfig', '/dev/null', '--certificate-authority', ca, '-s', oriel.url + path]
    return run('kubectl', [...server, '--token', `${user}-token`, ...fromRoot(args, oriel.url)], { input })
  }
  /** `oriel explain` as a user of the token file. */
  const explain = async (user: string, tenant: Tenant, ...args: readonly string[]) => {
    const file = join(directory, `${user}.kubeconfig`)
    const ca = (await readFile(join(oriel.directory, 'ca.crt'))).toString('base64')
    const cluster = { server: `${oriel.url}/clusters/${tenant.path}`, 'certificate-authority-data': ca }
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: { token: `${user}-token` } }],
    }
    await writeFile(file, JSON.stringify(config))
    return run(process.execPath, [compiled, 'explain', ...args, '--kubeconfig', file])
  }

  it('explains decisions to administrators, with objects that grant the action', async () => {
    const list = () => as('bob', '/clusters/root:team', ['get', 'cm', '-n', 'default'])
    assert.equal((await list()).code, 1)
    const told = await explain('alice', team, 'list', 'cm', '--as', 'bob')
    assert.equal(told.code, 1)
    assert.match(told.stdout, /No: "bob" may not list configmaps in the namespace "default"/)
    assert.match(told.stdout, /02-content +passed: user logical cluster access/)
    const suggested = await explain('alice', team, 'list', 'cm', '--as', 'bob', '-o', 'yaml')
    assert.equal(suggested.code, 0)
    const applied = await as('alice', '/clusters/root:team', ['apply', '-f', '-'], suggested.stdout)
    assert.equal(applied.code, 0, applied.stderr)
    assert.equal((await list()).code, 0)
    assert.equal((await as('bob', '/clusters/root:team', ['get', 'cm', '-A'])).code, 1)
    const allowed = await explain('alice', team, 'list', 'configmaps', '--as', 'bob')
    assert.equal(allowed.code, 0)
    assert.match(allowed.stdout, /allowed: .*RoleBinding "list-configmaps-/)
  })

  it('warns of resources and verbs that the server does not have', async () => {
    const { code, stdout, stderr } = await explain('alice', team, 'frob', 'nothings')
    assert.equal(code, 0)
    assert.match(stdout, /^Yes: You may frob nothings /)
    assert.equal(
      stderr,
      "Warning: the server doesn't have a resource type 'nothings'\nWarning: verb 'frob' is not a known verb\n",
    )
    assert.equal((await explain('alice', team, 'list', 'cm')).stderr, '')
  })

  it('explains missing rules to members, and nothing to users without access', async () => {
    const member = await explain('bob', team, 'get', 'secrets', 'token')
    assert.match(member.stdout, /shown to users who may create subjectaccessreviews/)
    assert.match(member.stdout, /resourceNames:\n +- token/)
    const aboutOthers = await explain('bob', team, 'get', 'secrets', '--as', 'alice')
    assert.deepEqual([aboutOthers.code, aboutOthers.stdout], [1, ''])
    const closed = await explain('bob', other, 'get', 'secrets')
    const missing = await explain('bob', { ...other, path: 'root' }, 'get', 'secrets')
    assert.match(closed.stderr, /^oriel: The server refuses the review: .*access denied/)
    assert.doesNotMatch(closed.stderr + missing.stderr, /cluster-admin|RoleBinding/)
  })

  it('explains decisions of a view, with objects that grant the request', async () => {
    const name = await exportApi(team, gadgets, [])
    await bind(other, bindingOf(team, name, []))
    const url = `${await publishedUrl(team, name)}/clusters/*`
    const list = () =>
      as('bob', '', ['get', '--raw', `${new URL(url).pathname}/apis/cert-manager.io/v1/certificates`])
    assert.match((await list()).stderr, /Forbidden/)
    const about = ['list', 'certificates.cert-manager.io', '--as', 'bob', '-s', url]
    const refused = await explain('alice', team, ...about)
    assert.equal(refused.code, 1, refused.stderr)
    assert.match(
      refused.stdout,
      /^No: "bob" may not list certificates.cert-manager.io .*through apiexport, which requires list apiexports.apis.kcp.io\/content "cert-manager.io" in /,
    )
    const { stdout: grant } = await explain('alice', team, ...about, '-o', 'yaml')
    await team.kubectl(['apply', '-f', '-'], grant)
    await eventually(list, ({ code }) => code === 0)
    assert.equal((await explain('alice', team, ...about)).code, 0)
    const more = ['watch', ...about.slice(1)]
    assert.equal((await explain('alice', team, ...more)).code, 1, 'only what was asked for')
  })

  it('hints at a missing role for members only', async () => {
    const body = async (path: string) => (await as('bob', '', ['get', '--raw', path, '-v', '9'])).stderr
    assert.match(await body('/clusters/root:team/api/v1/secrets'), /MissingPermission/)
    assert.doesNotMatch(await body('/clusters/root:other/api/v1/secrets'), /MissingPermission/)
  })

  it('applies the policy of the export to administrators: they cannot write statuses of workspaces', async () => {
    const put = [
      'replace',
      '--raw',
      '/clusters/root:team/apis/tenancy.kcp.io/v1alpha1/workspaces/x/status',
      '-f',
      '-',
    ]
    const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'x' } }
    const { stderr } = await as('alice', '', put, JSON.stringify(object))
    assert.match(stderr, /cannot update resource "workspaces\/status" .*: access denied/)
    assert.equal((await as('alice', '/clusters/root:team', ['get', 'workspaces'])).code, 0)
  })

  it('calls the webhook last', async () => {
    const before = hook.got.length
    const listed = await as('carol', '/clusters/root:other', [
      'get',
      '--raw',
      `/clusters/${other.cluster}/api/v1/secrets`,
    ])
    assert.equal(listed.code, 0, listed.stderr)
    const { spec } = hook.got.at(-1) as { spec: { user: string; extra: object } }
    assert.equal(spec.user, 'carol')
    assert.deepEqual((spec.extra as Record<string, string[]>)['authorization.kcp.io/cluster-name'], [
      other.cluster,
    ])
    assert.ok(hook.got.length > before)
  })

  it('records the user, the request and the reason of the decision', async () => {
    await as('bob', '/clusters/root:team', [
      'get',
      '--raw',
      '/clusters/root:team/api/v1/namespaces/kube-system/secrets',
    ])
    const events = async () =>
      (await readFile(join(directory, 'audit.log'), 'utf8'))
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
    const found = await eventually(events, all =>
      all.some(e => e.requestURI === '/api/v1/namespaces/kube-system/secrets'),
    )
    const { annotations, user, responseStatus, stage, level } = found.find(
      e => e.requestURI === '/api/v1/namespaces/kube-system/secrets',
    )
    assert.deepEqual(
      [user.username, responseStatus.code, stage, level],
      ['bob', 403, 'ResponseComplete', 'Metadata'],
    )
    assert.equal(annotations['kcp.io/cluster'], team.cluster)
    assert.equal(annotations['kcp.io/path'], 'root:team')
    assert.equal(annotations['authorization.k8s.io/decision'], 'forbid')
    assert.equal(annotations['request.auth.kcp.io/05-local-decision'], 'NoOpinion')
    const [missing] = JSON.parse(annotations['oriel/missing'])
    assert.deepEqual(missing.grant[0].rules, [{ verbs: ['list'], apiGroups: [''], resources: ['secrets'] }])
    assert.ok(!found.some(e => e.user.groups?.includes('system:masters')))
    assert.ok(found.some(e => e.level === 'RequestResponse' && e.responseObject?.kind))
  })

  it('sends the same events to the audit webhook, at the latest when it stops', async () => {
    await oriel.stop()
    const items = auditHook.got.flatMap(list => (list as { items: { auditID: string }[] }).items)
    const lines = (await readFile(join(directory, 'audit.log'), 'utf8')).trimEnd().split('\n')
    assert.deepEqual(
      items,
      lines.map(line => JSON.parse(line)),
    )
    assert.ok(items.length > 10)
  })
})
