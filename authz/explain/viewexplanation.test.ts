import assert from 'node:assert/strict'
import { allow, clusterDecision, deny, viewDecision } from '../../framework/contract/authorizer.ts'
import { silent } from '../../framework/contract/log.ts'
import { defineVirtualWorkspace, type WorkspaceFactory } from '../../framework/contract/workspace.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { action, clusterBinding, createFixture, user, userNamed } from '../testing/fixture.ts'
import { detailsFromSources } from './decisiondetails.ts'
import { createExplainer } from './explanation.ts'

const admin = user('admin')
const apis = () => undefined
/** Authorizes like a request without a view. */
const plain = defineVirtualWorkspace('plain', '/services/plain', () => ({ apis }))
/** Is authorized in `ws`, by reviews in `ws` and in `other`. */
const joint = defineVirtualWorkspace('joint', '/services/joint', ({ backend }) => {
  const asked = action('list core/pods', 'other')
  return {
    apis,
    explain: async ({ user: who, signal }) => ({
      ...viewDecision('virtual.joint', [
        { ...allow('open', 'virtual.joint.here'), cluster: 'ws' },
        clusterDecision(
          'other',
          'virtual.joint.there',
          await backend.authorizer.authorize(who, asked, signal),
        ),
      ]),
      cluster: 'ws',
    }),
    authorize: async () => deny('not called for explanations', 'virtual.joint'),
  }
})

/** Decides alone, as most views of plugins do, and names no authorizer. */
const members = defineVirtualWorkspace('members', '/services/members', () => ({
  apis,
  authorize: async ({ user: { name } }) => (name === 'alice' ? deny('not a member') : deny('')),
}))

function explaining(...factories: readonly WorkspaceFactory[]) {
  const fixture = createFixture()
  const views = factories.map(factory => factory({ backend: fixture } as never))
  const { throughView } = createExplainer({
    ...fixture,
    details: detailsFromSources(fixture.authorizer, fixture.sources),
    views: () => views,
  })
  fixture.put('ws', clusterBinding('cluster-admin', userNamed('admin')))
  const record = { log: silent, warn: () => undefined, annotate: () => undefined }
  const { signal } = new AbortController()
  const ask = (url: string, who: UserInfo = user('alice'), requester = admin, cluster = 'ws') =>
    throughView({ url, requester, user: who, action: action('list core/pods', cluster), signal, record })
  return { fixture, ask }
}

describe('explanations of requests to views', () => {
  it('equal that of the request itself for views without authorization', async () => {
    const { ask } = explaining(plain)
    const { steps, missing } = await ask('/services/plain/clusters/ws')
    assert.deepEqual(
      steps.map(({ authorizer, workspace }) => `${authorizer} ${workspace}`),
      ['virtual.plain ws', '01-requiredgroups ws', '02-content ws'],
    )
    assert.deepEqual(
      missing.map(({ authorizer }) => authorizer),
      ['02-content', '05-local'],
    )
    assert.equal((await ask('/services/plain/clusters/ws', admin)).allowed, true)
  })

  it('name the view when it decides without naming an authorizer', async () => {
    const { ask } = explaining(members)
    const { steps, missing } = await ask('/services/members/clusters/ws')
    assert.deepEqual(
      steps.map(({ authorizer, reason }) => [authorizer, reason]),
      [['virtual.members', 'not a member']],
    )
    assert.deepEqual(
      missing.map(({ authorizer, why }) => [authorizer, why]),
      [['virtual.members', 'Not a member.']],
    )
    const silent = await ask('/services/members/clusters/ws', user('bob'))
    assert.deepEqual(
      silent.missing.map(({ why }) => why),
      ['The view "members" gives no reason.'],
    )
  })

  it('have the reviews of other workspaces only with permission there', async () => {
    const { ask, fixture } = explaining(joint)
    const url = '/services/joint/clusters/other'
    const hidden = await ask(url)
    assert.deepEqual(
      hidden.steps.map(({ decision }) => decision),
      ['Allowed', 'Withheld'],
    )
    assert.deepEqual(
      hidden.missing.map(({ authorizer, workspace }) => [authorizer, workspace]),
      [['others', '']],
    )
    fixture.put('other', clusterBinding('cluster-admin', userNamed('admin')))
    const visibleMissing = await ask(url)
    assert.deepEqual(
      visibleMissing.missing.map(({ authorizer, workspace, otherWorkspace }) => [
        authorizer,
        workspace,
        otherWorkspace,
      ]),
      [
        ['02-content', 'other', true],
        ['05-local', 'other', true],
      ],
    )
    for (const { grant } of visibleMissing.missing) for (const object of grant) fixture.put('other', object)
    assert.equal((await ask(url)).allowed, true)
  })

  it('report that system:masters is allowed', async () => {
    const { ask } = explaining(joint)
    const root: UserInfo = { name: 'root', groups: ['system:masters'] }
    const { allowed, steps } = await ask('/services/joint/clusters/other', root)
    assert.deepEqual([allowed, steps.map(({ authorizer }) => authorizer)], [true, ['AlwaysAllowGroups']])
  })

  it('require the deciding workspace and the URL of a view', async () => {
    const { ask } = explaining(plain, joint)
    const wrong =
      /^the authorization of "\/services\/.*" is decided in another workspace: send the request there$/
    for (const url of ['/services/plain/clusters/other', '/services/plain/clusters/*'])
      await assert.rejects(ask(url), { code: 400, message: wrong })
    await assert.rejects(ask('/services/joint/clusters/ws', admin, admin, 'other'), {
      code: 400,
      message: wrong,
    })
    for (const url of [
      '/services/none/clusters/ws',
      '/services/plain',
      '/services/plain/clusters/ws/api',
      '',
    ])
      await assert.rejects(ask(url), { code: 400, message: /is not the URL of a view$/ })
  })
})
