import assert from 'node:assert/strict'
import type { Action, Authorizer } from '../contract/authorizer.ts'
import { alice, be, becoming, refused, scopes } from './testing/people.ts'

describe('impersonation', () => {
  describe('for some requests only', () => {
    /** Allows exactly the named permissions: `impersonate:user-info users/bob`. */
    const only = (...allowed: readonly string[]): Authorizer => ({
      authorize: async (_user, { verb, resource }: Action) => {
        const { resource: plural = '', subresource = '', name = '' } = resource ?? {}
        const what = [plural, subresource, name].filter(part => part !== '').join('/')
        const isAllowed = allowed.includes(`${verb} ${what}`)
        return { effect: isAllowed ? 'allow' : 'no opinion', reason: 'access denied' }
      },
    })
    const on = (kind: string) => `impersonate-on:${kind}:list configmaps`

    for (const [kind, part, lines, groups] of [
      ['user-info', 'users/bob', ['bob'], ['system:authenticated']],
      [
        'serviceaccount',
        'serviceaccounts/robot',
        ['system:serviceaccount:ns:robot'],
        ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      ],
      ['arbitrary-node', 'nodes/n1', ['system:node:n1'], ['system:nodes', 'system:authenticated']],
    ] as const)
      it(`requires permission for the action and for the impersonated user: ${kind}`, async () => {
        const as = ['Impersonate-User', ...lines]
        const who = `impersonate:${kind} ${part}`
        const { user, constraint } = await becoming(alice, as, only(on(kind), who))
        assert.deepEqual([user.name, user.groups, constraint], [lines[0], groups, `impersonate:${kind}`])
        assert.deepEqual(user.extra, { [scopes]: ['cluster:one'] })
        for (const authorizer of [only(on(kind)), only(who), only('impersonate:user-info users/bob')])
          await assert.rejects(be(alice, as, authorizer), { code: 403 })
        const more = [...as, 'Impersonate-Group', 'devs']
        await assert.rejects(be(alice, more, only(on(kind), who)), { code: 403 })
      })

    it('reports the first missing permission', async () => {
      const lines = ['Impersonate-User', 'bob', 'Impersonate-Group', 'devs']
      await refused(
        be(alice, lines, only()),
        403,
        /^configmaps is forbidden: User "alice" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "ns": access denied$/,
      )
      await refused(
        be(alice, lines, only(on('user-info'), 'impersonate:user-info users/bob')),
        403,
        /^groups.authentication.k8s.io "devs" is forbidden: User "alice" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: access denied$/,
      )
    })

    it('makes no person of a service account or node, and takes no odd identity', async () => {
      const anybody: Authorizer = {
        authorize: async (_user, { verb }) => ({
          effect: verb.includes('user-info') ? 'allow' : 'no opinion',
          reason: 'access denied',
        }),
      }
      assert.equal(
        (await becoming(alice, ['Impersonate-User', 'bob'], anybody)).constraint,
        'impersonate:user-info',
      )
      for (const lines of [
        ['system:serviceaccount:ns:robot'],
        ['system:node:n1'],
        ['bob', 'Impersonate-Group', ''],
        ['bob', 'Impersonate-Extra-plain', 'v'],
        ['bob', 'Impersonate-Extra-example.org%2Fkey', ''],
      ])
        await assert.rejects(be(alice, ['Impersonate-User', ...lines], anybody), { code: 403 }, lines.join())
    })
  })
})
