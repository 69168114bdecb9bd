import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Explanation } from '../../../authz/index.ts'
import { discard, eventually, readText } from '../../support/oriel.ts'
import { bound, clusterRole, masters, type People, startWithPeople } from '../../support/people.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, type Tenant } from '../../support/tenants.ts'
import { type AskedReview, contentRules, exportGadgets, viewReview } from '../../support/viewreviews.ts'

const policy =
  'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n'
const group = 'cert-manager.io'
const list = { verb: 'list', group, resource: 'certificates' }

/**
 * Explanations of decisions of views: `user-1` administers the provider, `user-2` the consumer, `user-5` a third
 * workspace.
 */
describe('explanations of decisions of a view', function () {
  this.timeout(180_000)
  let people: People
  let provider: Tenant
  let consumer: Tenant
  let stranger: Tenant
  let log: string
  let view: (cluster: string) => string

  before(async () => {
    const directory = await temporaryDirectory('explain')
    log = join(directory, 'audit.log')
    await writeFile(join(directory, 'policy.yaml'), policy)
    people = await startWithPeople([
      '--audit-policy-file',
      join(directory, 'policy.yaml'),
      '--audit-log-path',
      log,
    ])
    const exported = await exportGadgets(people.oriel, async workspaces => {
      await apply(workspaces.provider.kubectl, bound('cluster-admin', 'user-1'))
      await apply(workspaces.consumer.kubectl, bound('cluster-admin', 'user-2'))
      await apply(workspaces.stranger.kubectl, bound('cluster-admin', 'user-5'))
    })
    ;({ provider, consumer, stranger, view } = exported)
  })
  after(() => discard(people.oriel))

  /** The response to a review for a request to a view, sent to the workspace `where`. */
  const review = (where: string, { who, wanted = list, ...asked }: AskedReview) => {
    const { path, body } = viewReview({ ...asked, wanted })
    return people.post(who, `/clusters/${where}${path}`, body)
  }
  async function explain(asked: AskedReview): Promise<Explanation> {
    const told = await review(provider.cluster, asked)
    assert.equal(told.status, 201, told.body)
    const { metadata } = told.json<{ metadata: { annotations: Record<string, string> } }>()
    return JSON.parse(metadata.annotations['oriel/explanation'] ?? '')
  }
  const stepsOf = ({ steps }: Explanation) =>
    steps
      .filter(({ authorizer }) => authorizer.startsWith('virtual.'))
      .map(({ authorizer, decision, workspace = '?' }) => [authorizer.slice(18), decision, workspace])

  /** The event of a request, by its path. */
  async function audited(path: string): Promise<{ readonly annotations: Readonly<Record<string, string>> }> {
    const events = async () =>
      (await readText(log))
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
        .filter(event => event.requestURI === path)
    return (await eventually(events, found => found.length > 0))[0]
  }

  it('have each step, and objects that grant the request', async () => {
    const asked = { who: 'user-1', about: 'user-3', view: view('*') }
    const told = await explain(asked)
    assert.deepEqual(stepsOf(told), [
      ['boundapi', 'Allowed', provider.cluster],
      ['content', 'NoOpinion', provider.cluster],
      ['maxpermissionpolicy', 'Allowed', provider.cluster],
      ['cluster', 'Allowed', provider.cluster],
    ])
    assert.ok(
      told.steps.some(
        ({ authorizer, workspace }) => authorizer === '02-content' && workspace === provider.cluster,
      ),
    )
    await apply(provider.kubectl, ...told.missing.flatMap(({ grant }) => grant))
    assert.equal((await explain(asked)).allowed, true)
    const opened = await people.as('user-3')(`${view('*')}/apis/${group}/v1/certificates`)
    assert.equal(opened.status, 200, opened.body)
  })

  it('have the steps of workspaces in which the requester has permission', async () => {
    const wanted = { verb: 'list', group: '', resource: 'configmaps' }
    const asked = { about: 'user-3', view: view(consumer.cluster), wanted }
    const byProvider = await explain({ who: 'user-1', ...asked })
    const hidden = stepsOf(byProvider).filter(([, said]) => said === 'Withheld')
    assert.deepEqual(hidden, [
      ['boundapi', 'Withheld', '?'],
      ['cluster', 'Withheld', '?'],
    ])
    assert.ok(!JSON.stringify(byProvider).includes(consumer.cluster))
    await apply(consumer.kubectl, bound('cluster-admin', 'user-1'))
    const byBoth = await explain({ who: 'user-1', ...asked })
    assert.deepEqual(stepsOf(byBoth)[0], ['boundapi', 'Denied', consumer.cluster])
    assert.match(
      JSON.stringify(byBoth.missing),
      /Failed to find suitable reason to allow access in APIBinding\./,
    )
    await consumer.kubectl(['delete', 'clusterrolebinding', 'cluster-admin-user-1'])
  })

  it('are limited for users who ask about themselves', async () => {
    const outside = await review(provider.cluster, { who: 'user-4', view: view('*') })
    assert.equal(outside.status, 403)
    await apply(provider.kubectl, bound('system:kcp:workspace:access', 'user-4'))
    const told = await explain({ who: 'user-4', view: view('*') })
    assert.deepEqual([told.allowed, told.limited, told.steps], [false, true, []])
    const [missing] = told.missing
    assert.deepEqual(missing?.grant[0]?.rules, contentRules('list', group))
  })

  describe('do not reveal what exists', () => {
    const anonymous = (text: string, names: Readonly<Record<string, string>>): string =>
      Object.entries(names).reduce((all, [name, as]) => all.replaceAll(name, as), text)

    it('in a workspace of others', async () => {
      const bodies = await Promise.all(
        [consumer.cluster, stranger.cluster, 'nosuchcluster'].map(async cluster => {
          const asked = { who: 'user-1', about: 'user-3', view: view(cluster) }
          const told = JSON.parse((await review(provider.cluster, asked)).body)
          return anonymous(JSON.stringify([told.status, told.metadata.annotations]), { [cluster]: 'x' })
        }),
      )
      const [isBound, isNot, isNothing] = bodies
      assert.equal(isNot, isNothing)
      // A provider may see which workspaces bind its export.
      assert.ok(isBound)
    })

    it('of the exports of others', async () => {
      const ask = async (name: string, where: string) => {
        const url = `/services/apiexport/${provider.cluster}/${name}/clusters/${stranger.cluster}`
        const { status, body } = await review(where, { who: 'user-5', about: 'user-5', view: url })
        return anonymous(`${status} ${body}`, { [name]: 'x' })
      }
      assert.match(await ask(group, stranger.cluster), /^400 .*is decided in another workspace/)
      assert.equal(await ask(group, stranger.cluster), await ask('none', stranger.cluster))
      assert.match(await ask(group, provider.cluster), /^403 /)
      assert.equal(await ask(group, provider.cluster), await ask('none', provider.cluster))
    })

    it('by a hint for users with access but without permission', async () => {
      const ask = async (name: string, cluster: string) => {
        const url = `/services/apiexport/${provider.cluster}/${name}/clusters/${cluster}/apis/${group}/v1/certificates`
        const { status, body } = await people.as('user-4')(url)
        assert.equal(status, 403)
        return body
      }
      const told = await ask(group, consumer.cluster)
      assert.match(told, /you have access to the workspace of this API export, but not to its content/)
      for (const [name, cluster] of [
        [group, 'nosuchcluster'],
        ['none', consumer.cluster],
      ] as const)
        assert.equal(await ask(name, cluster), told)
    })

    it('by a URL of no view', async () => {
      for (const url of ['', '/clusters/root', '/services/none/clusters/*', `${view('*')}/api`, '../x'])
        assert.equal((await review(provider.cluster, { who: 'user-1', view: url })).status, 400, url)
    })
  })

  it('in the audit log, with the same chain', async () => {
    const path = `${view(consumer.cluster)}/apis/${group}/v1/certificates`
    assert.equal((await people.as('user-5')(path)).status, 403)
    const event = await audited(path)
    const steps = JSON.parse(event.annotations['oriel/steps'] ?? '')
    assert.deepEqual(
      steps.map(({ authorizer, decision, workspace }: Explanation['steps'][number]) => [
        authorizer,
        decision,
        workspace,
      ]),
      [
        ['virtual.apiexport.boundapi', 'Allowed', consumer.cluster],
        ['virtual.apiexport.content', 'NoOpinion', provider.cluster],
        ['01-requiredgroups', 'NoOpinion', provider.cluster],
        ['02-content', 'NoOpinion', provider.cluster],
      ],
    )
    assert.equal(event.annotations['request.auth.kcp.io/virtual.apiexport.content-decision'], 'NoOpinion')
    const kinds = JSON.parse(event.annotations['oriel/missing'] ?? '').flatMap(
      ({ grant }: { grant: { kind: string }[] }) => grant.map(({ kind }) => kind),
    )
    assert.deepEqual(kinds, ['ClusterRoleBinding', 'ClusterRole', 'ClusterRoleBinding'])
  })

  it('with the rules of the type, for initializers', async () => {
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
    await apply(provider.kubectl, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'WorkspaceType',
      metadata: { name: 'team' },
      spec: { initializer: true, initializerPermissions: rules },
    })
    await apply(
      provider.kubectl,
      clusterRole('lead', {
        verbs: ['initialize'],
        apiGroups: ['tenancy.kcp.io'],
        resources: ['workspacetypes'],
      }),
      bound('lead', 'user-3'),
    )
    const url = `/services/initializingworkspaces/${provider.cluster}:team/clusters/${consumer.cluster}`
    const wanted = { verb: 'list', group: '', resource: 'configmaps' }
    const told = await explain({ who: masters, about: 'user-3', view: url, wanted })
    const said = told.steps
      .filter(({ authorizer }) => authorizer.startsWith('virtual.'))
      .map(({ authorizer, decision, reason }) => [
        authorizer.replace('virtual.initializingworkspaces', ''),
        decision,
        reason,
      ])
    assert.deepEqual(
      said.map(([who, decision]) => `${who} ${decision}`),
      [' Allowed', '.waiting Denied', '.permissions Denied', '.cluster NoOpinion'],
    )
    assert.match(
      said[2]?.[2] ?? '',
      /denied by initializerPermissions: no rule allows list on core\/configmaps/,
    )
    const path = `${url}/api/v1/configmaps`
    assert.equal((await people.as('user-3')(path)).status, 403)
    const steps = JSON.parse((await audited(path)).annotations['oriel/steps'] ?? '')
    const names = steps.map(({ authorizer }: Explanation['steps'][number]) => authorizer)
    assert.equal(names[0], 'virtual.initializingworkspaces')
    assert.equal(names.at(-1), 'virtual.initializingworkspaces.waiting')
  })
})
