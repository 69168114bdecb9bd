import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Explanation } from '../../../authz/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { compiled, discard, eventually, run } from '../../support/oriel.ts'
import { bound } from '../../support/people.ts'
import { type Standalone, startStandalone } from '../../support/servers/standalone.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, type Tenant } from '../../support/tenants.ts'
import { type AskedReview, contentRules, exportGadgets, viewReview } from '../../support/viewreviews.ts'
import { userAt } from '../../support/watcher.ts'

const tokens = 'boss-token,boss,1\nada-token,ada,2\nbob-token,bob,3\n'
const group = 'cert-manager.io'
const reviews = 'authorization.k8s.io'
const certificates = { verb: 'list', group, resource: 'certificates' }
const configMaps = { verb: 'list', group: '', resource: 'configmaps' }

/**
 * Explanations of a process of views. `boss` administers the provider, and `ada` and `bob` have no permissions there.
 * `KCP_BIN=… npm run test:kcp` uses kcp as the shard.
 */
describe('explanations of decisions of a view in front of a shard', function () {
  this.timeout(240_000)
  let standalone: Standalone
  let provider: Tenant
  let consumer: Tenant
  let stranger: Tenant
  let view: (cluster: string) => string
  const as = (user: string): Promise<Client> =>
    clientOf(userAt(standalone, standalone.viewsUrl, `${user}-token`))

  before(async () => {
    const file = join(await temporaryDirectory('explained'), 'tokens.csv')
    await writeFile(file, tokens)
    standalone = await startStandalone([], ['--token-auth-file', file])
    const exported = await exportGadgets(standalone, workspaces =>
      apply(workspaces.provider.kubectl, bound('cluster-admin', 'boss')),
    )
    ;({ provider, consumer, stranger, view } = exported)
  })
  after(() => discard(standalone))

  /** The response to a review for a request to a view, for the workspace `where`. */
  async function review(where: string, { who, wanted = certificates, ...asked }: AskedReview) {
    const { path, body } = viewReview({ ...asked, wanted })
    const client = await as(who)
    return client(`/services/explain/clusters/${where}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  }
  async function explain(asked: AskedReview): Promise<Explanation> {
    const { status, text, json } = await review(provider.cluster, asked)
    assert.equal(status, 201, text)
    return JSON.parse(json().metadata.annotations?.['oriel/explanation'] ?? '')
  }
  const stepsOf = ({ steps }: Explanation) =>
    steps.map(({ authorizer, decision }) => `${authorizer.replace('virtual.apiexport.', '')} ${decision}`)

  it('have each step, and objects that grant the request', async () => {
    const asked = { who: 'boss', about: 'ada', view: view('*') }
    // Views see the export a little later than its shard.
    const told = await eventually(
      () => explain(asked),
      ({ steps }) => steps.length > 1,
    )
    assert.deepEqual(stepsOf(told), [
      'boundapi Allowed',
      'content NoOpinion',
      'shard.subjectaccessreview NoOpinion',
      '02-content NoOpinion',
      '05-local NoOpinion',
      'maxpermissionpolicy Allowed',
      'cluster Allowed',
    ])
    assert.match(told.steps[2]?.reason ?? '', /access denied/)
    await apply(provider.kubectl, ...told.missing.flatMap(({ grant }) => grant))
    await eventually(
      () => explain(asked),
      ({ allowed }) => allowed,
    )
    const ada = await as('ada')
    // kcp serves a resource some time after it was bound for the first time.
    await eventually(
      () => ada(`${view('*')}/apis/${group}/v1/certificates`),
      ({ status }) => status === 200,
    )
  })

  it('have the steps of workspaces in which the requester has permission', async () => {
    const asked = { about: 'ada', view: view(consumer.cluster), wanted: configMaps }
    const byBoss = await explain({ who: 'boss', ...asked })
    assert.ok(stepsOf(byBoss).includes('boundapi Withheld'))
    assert.ok(!JSON.stringify(byBoss).includes(consumer.cluster))
    await apply(consumer.kubectl, bound('cluster-admin', 'boss'))
    const byBoth = await eventually(
      () => explain({ who: 'boss', ...asked }),
      found => stepsOf(found)[0] === 'boundapi Denied',
    )
    assert.match(
      JSON.stringify(byBoth.missing),
      /Failed to find suitable reason to allow access in APIBinding/,
    )
  })

  it('have the reason of a view without authorizer', async () => {
    const url = `/services/apiresourceschema/${provider.cluster}/clusters/*`
    const schemas = { group: 'apis.kcp.io', resource: 'apiresourceschemas' }
    const reading = await explain({ who: 'boss', view: url, wanted: { verb: 'list', ...schemas } })
    assert.equal(reading.allowed, true)
    const writing = await explain({ who: 'boss', view: url, wanted: { verb: 'create', ...schemas } })
    assert.deepEqual(
      [writing.allowed, writing.missing.map(({ why }) => why)],
      [false, ['Write access to the schemas that a workspace has bound is not allowed.']],
    )
  })

  it('are limited for users who ask about themselves', async () => {
    assert.equal((await review(provider.cluster, { who: 'bob', view: view('*') })).status, 403)
    assert.equal((await review(provider.cluster, { who: 'bob', about: 'ada', view: view('*') })).status, 403)
    await apply(provider.kubectl, bound('system:kcp:workspace:access', 'bob'))
    await eventually(
      () => review(provider.cluster, { who: 'bob', view: view('*') }),
      ({ status }) => status === 201,
    )
    assert.equal((await review(provider.cluster, { who: 'bob', about: 'ada', view: view('*') })).status, 403)
    const told = await explain({ who: 'bob', view: view('*') })
    assert.deepEqual([told.allowed, told.limited, told.steps], [false, true, []])
    const [missing] = told.missing
    assert.deepEqual(missing?.grant[0]?.rules, contentRules('list', group))
  })

  it('are served in the deciding workspace only', async () => {
    const elsewhere = await review(consumer.cluster, { who: 'boss', view: view('*') })
    assert.equal(elsewhere.status, 400)
    assert.match(elsewhere.json().message ?? '', /is decided in another workspace/)
    for (const url of ['', '/clusters/root', '/services/none/clusters/*', `${view('*')}/api`, '../x'])
      assert.equal((await review(provider.cluster, { who: 'boss', view: url })).status, 400, url)
    const nowhere = await review('*', { who: 'boss', view: view('*') })
    assert.equal(nowhere.status, 403)
    const anybody = await clientOf(userAt(standalone, standalone.viewsUrl))
    const path = `/services/explain/clusters/${provider.cluster}/apis/${reviews}/v1/selfsubjectaccessreviews`
    assert.ok([401, 403].includes((await anybody(path, { method: 'POST', body: {} })).status))
  })

  it('do not list workspaces', async () => {
    const bodies = [stranger.cluster, 'nosuchcluster'].map(async cluster => {
      const asked = { about: 'bob', view: view(cluster), wanted: configMaps }
      const { status, json } = await review(provider.cluster, { who: 'boss', ...asked })
      return JSON.stringify([status, json().metadata.annotations]).replaceAll(cluster, 'x')
    })
    const [isThere, isNot] = await Promise.all(bodies)
    assert.equal(isThere, isNot)
    assert.match(isThere ?? '', /^\[201,/)
    const bob = await as('bob')
    const refusals = [stranger.cluster, 'nosuchcluster'].map(async cluster => {
      const waiting = `/services/initializingworkspaces/${cluster}:team/clusters/*/apis`
      const { status, text } = await bob(waiting)
      return `${status} ${text.replaceAll(cluster, 'x')}`
    })
    const [isClosed, isNone] = await Promise.all(refusals)
    assert.equal(isClosed, isNone)
    assert.match(isClosed ?? '', /^403 /)
  })

  it('are printed by `oriel explain`, with the URL of the view', async () => {
    const file = join(await temporaryDirectory('explainer'), 'kubeconfig')
    await writeFile(file, userAt(standalone, standalone.viewsUrl, 'boss-token').exportConfig())
    const args = ['explain', 'list', 'certificates.cert-manager.io', '--as', 'carol', '--kubeconfig', file]
    const url = standalone.viewsUrl + view('*')
    const { code, stdout, stderr } = await run(process.execPath, [compiled, ...args, '--server', url])
    assert.equal(code, 1, stderr)
    assert.match(stdout, /^No: "carol" may not list certificates.cert-manager.io in .* through apiexport/)
    assert.match(stdout, /\n {2}virtual.apiexport.content +did not allow: access denied, in [a-z0-9]+\n/)
    assert.match(stdout, /\n {4}02-content +did not allow: The user has no access to the workspace/)
  })
})
