import assert from 'node:assert/strict'
import { eventually } from '../../../support/oriel.ts'
import { apply, rolesFor } from '../../../support/tenants.ts'
import {
  define,
  forbidden,
  get,
  gone,
  here,
  isReady,
  judged,
  make,
  org,
  post,
  remove,
  type Types,
  tenancy,
  universal,
  workspace,
  workspaceType,
} from './scene.ts'

export const whoMakesThem = (scene: Types): void => {
  it('require an existing type', async () => {
    forbidden(
      await make(scene, workspace('a', { name: 'nothing' })),
      'workspaces',
      'a',
      'workspace type "nothing" cannot be resolved',
    )
    const elsewhere = await make(scene, workspace('a', { path: 'root', name: 'nothing' }))
    assert.equal(elsewhere.status, 403)
    if (!judged) assert.match(elsewhere.text, /workspace type \\"root:nothing\\" cannot be resolved/)
  })

  it('require permission to use the type', async () => {
    await define(scene, 'closed')
    const workspaces = { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['create'] }
    await apply(scene.tenant.kubectl, ...rolesFor('alice', workspaces))
    const made = await eventually(
      () => make(scene, workspace('mine', here('closed')), org, scene.alice),
      ({ text }) => !/access not permitted|cannot create resource/.test(text),
    )
    forbidden(
      made,
      'workspaces',
      'mine',
      "unable to use workspace type root:org:closed: missing verb='use' permission on workspacetype",
    )
    const use = {
      apiGroups: ['tenancy.kcp.io'],
      resources: ['workspacetypes'],
      resourceNames: ['closed'],
      verbs: ['use'],
    }
    await apply(scene.tenant.kubectl, ...rolesFor('alice', workspaces, use))
    await eventually(
      () => make(scene, workspace('mine', here('closed')), org, scene.alice),
      ({ status }) => status === 201,
    )
    await get(scene, 'mine', isReady)
  })

  it('are created only where their types and those of their parents allow', async () => {
    await define(scene, 'top', { limitAllowedParents: { none: true } })
    await define(scene, 'leaf', { extend: universal, limitAllowedChildren: { none: true } })
    await define(scene, 'picky', { limitAllowedParents: { types: [here('leaf')] } })
    forbidden(
      await make(scene, workspace('a', here('top'))),
      'workspaces',
      'a',
      'workspace type root:org:top cannot have any parent',
    )
    forbidden(
      await make(scene, workspace('a', here('picky'))),
      'workspaces',
      'a',
      'workspace type root:org:picky only allows [root:org:leaf] parent workspaces, but parent type root:universal ' +
        'only implements [root:universal]',
    )
    assert.equal((await make(scene, workspace('end', here('leaf')))).status, 201)
    await get(scene, 'end', isReady)
    forbidden(
      await make(
        scene,
        workspace('a', { path: 'root', name: 'universal' }),
        `/clusters/root:org:end${tenancy}`,
      ),
      'workspaces',
      'a',
      'workspace type root:org:leaf cannot have any child',
    )
  })

  it('cannot have types that extend themselves, or missing ones', async () => {
    await define(scene, 'one', { extend: { with: [here('other')] } })
    await define(scene, 'other', { extend: { with: [here('one')] } })
    await define(scene, 'orphan', { extend: { with: [{ name: 'nowhere' }] } })
    forbidden(
      await make(scene, workspace('a', here('one'))),
      'workspaces',
      'a',
      'circular dependency detected in workspace type root:org:one: root:org:one -> root:org:other',
    )
    forbidden(
      await make(scene, workspace('a', here('orphan'))),
      'workspaces',
      'a',
      'unable to find inherited workspace type nowhere',
    )
  })

  it('cannot have types with reserved names', async () => {
    for (const name of ['any', 'system']) {
      const reply = await post(scene.admin, `${org}/workspacetypes`, workspaceType(name))
      assert.equal(reply.status, 403)
      assert.match(reply.text, /name is reserved/)
    }
    forbidden(
      await post(scene.admin, `${org}/workspacetypes`, workspaceType('root')),
      'workspacetypes',
      'root',
      'root workspace type can only be created in root cluster',
    )
    const { status } = await post(scene.admin, `${org}/workspaces`, workspace('system:a'))
    assert.equal(status, 422)
  })

  // In kcp it waits without a reason.
  if (!judged)
    it('say why they have no logical cluster: no initializer has a name of one letter', async () => {
      await define(scene, 'x', { extend: universal, initializer: true })
      await make(scene, workspace('unnamed', here('x')))
      const { status } = await get(scene, 'unnamed', ({ status }) => status?.phase === 'Unavailable')
      const condition = status.conditions?.find(({ type }) => type === 'WorkspaceScheduled')
      assert.equal(condition?.status, 'False')
      assert.match(condition?.message ?? '', /spec\.initializers\[\d\]: Invalid value: "\w+:x"/)
      await remove(scene, `${org}/workspaces/unnamed`)
      await gone(scene, 'unnamed')
    })
}
