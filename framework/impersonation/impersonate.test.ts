import assert from 'node:assert/strict'
import type { UserInfo } from '../request/user.ts'
import { alice, be, policy, refused, scopes, wanted } from './testing/people.ts'

const admin: UserInfo = { name: 'admin', groups: ['system:kcp:admin', 'system:authenticated'] }

const master: UserInfo = { name: 'root', groups: ['system:masters'] }

const warrant = 'authorization.kcp.io/warrant'

const home = 'authentication.kcp.io/cluster-name'

const gate = /^forbidden: impersonation is not allowed for the requestor$/

const warranted = (identity: object): string[] => [
  'Impersonate-User',
  'alice',
  `Impersonate-Extra-${warrant}`,
  JSON.stringify(identity),
]

describe('impersonation', () => {
  it('reads an identity from its headers, line by line', () => {
    const identity = wanted(
      ...[
        'Impersonate-User',
        'bob',
        'IMPERSONATE-GROUP',
        'a, b',
        'impersonate-group',
        'c',
        'Impersonate-Uid',
        '7',
      ],
      ...['Impersonate-Extra-Example.org%2fKey', 'v1', 'Impersonate-Extra-example.org%2FKEY', 'v2'],
      ...['Impersonate-Extra-odd%zz', 'v'],
    )
    assert.deepEqual(identity, {
      name: 'bob',
      uid: '7',
      groups: ['a, b', 'c'],
      extra: { 'example.org/key': ['v1', 'v2'], 'odd%zz': ['v'] },
    })
  })

  it('reads UTF-8, and refuses other bytes: two names could become one', () => {
    const name = Buffer.from('Jürgen').toString('latin1')
    assert.equal(wanted('Impersonate-User', name).name, 'Jürgen')
    assert.throws(() => wanted('Impersonate-User', 'J\xfcrgen'), { code: 401 })
  })

  for (const [what, lines, message] of [
    [
      'groups alone',
      ['Impersonate-Group', 'devs'],
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string(nil)} without impersonating a user name',
    ],
    [
      'a UID alone',
      ['Impersonate-Uid', 'u'],
      'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name',
    ],
    [
      'an empty name',
      ['Impersonate-User', ''],
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name',
    ],
    [
      'two names',
      ['Impersonate-User', 'a', 'Impersonate-User', 'b'],
      'the header impersonate-user must be set once',
    ],
  ] as const)
    it(`refuses ${what}`, () => assert.throws(() => wanted(...lines), { code: 400, message }))

  it('asks for every part of the identity, in the cluster of the request', async () => {
    const authorizer = policy()
    const lines = [
      'Impersonate-User',
      'bob',
      'Impersonate-Group',
      'devs',
      'Impersonate-Uid',
      '7',
      'Impersonate-Extra-k',
      'v',
    ]
    const user = await be(alice, lines, authorizer)
    assert.deepEqual(authorizer.asked, [
      'impersonate users/bob in one',
      'impersonate groups/devs in one',
      'impersonate authentication.k8s.io/uids/7 in one',
      'impersonate authentication.k8s.io/userextras/k/v in one',
    ])
    assert.deepEqual(user, {
      name: 'bob',
      uid: '7',
      groups: ['devs', 'system:authenticated'],
      extra: { k: ['v'], [scopes]: ['cluster:one'] },
    })
  })

  it('names the part that is not allowed', async () => {
    const account = ['Impersonate-User', 'system:serviceaccount:ns:robot', 'Impersonate-Group', 'ops']
    await refused(
      be(alice, account, policy('groups/ops')),
      403,
      /^groups "ops" is forbidden: User "alice" cannot impersonate resource "groups" in API group "" at the cluster scope: access denied$/,
    )
    await refused(
      be(alice, account, policy('serviceaccounts')),
      403,
      /^serviceaccounts "robot" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns": access denied$/,
    )
    await refused(
      be(
        alice,
        ['Impersonate-User', 'bob', 'Impersonate-Extra-k', 'v'],
        policy('authentication.k8s.io/userextras'),
      ),
      403,
      /^userextras.authentication.k8s.io "v" is forbidden: User "alice" cannot impersonate resource "userextras\/k"/,
    )
  })

  it('adds the groups that go without saying', async () => {
    const groups = async (...lines: string[]) => (await be(alice, ['Impersonate-User', ...lines])).groups
    assert.deepEqual(await groups('bob'), ['system:authenticated'])
    assert.deepEqual(await groups('system:anonymous'), ['system:unauthenticated'])
    assert.deepEqual(await groups('bob', 'Impersonate-Group', 'system:unauthenticated'), [
      'system:unauthenticated',
    ])
    const accounts = ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated']
    assert.deepEqual(await groups('system:serviceaccount:ns:robot'), accounts)
  })

  it('refuses groups of kcp to users who are not members', async () => {
    for (const group of [
      'system:masters',
      'system:kcp:admin',
      'system:kcp:logical-cluster-admin',
      'system:kcp:external-logical-cluster-admin',
      'system:kcp:tenancy:workspace-bootstrapper',
      'system:kcp:initializer:root:universal',
      'system:kcp:terminator:root:universal',
      'system:cluster:two',
    ])
      await refused(be(alice, ['Impersonate-User', 'alice', 'Impersonate-Group', group]), 403, gate)
    const lines = ['Impersonate-User', 'bob', 'Impersonate-Group', 'system:kcp:admin']
    assert.ok((await be(admin, lines)).groups.includes('system:kcp:admin'))
    await refused(be(admin, ['Impersonate-User', 'bob', 'Impersonate-Group', 'system:masters']), 403, gate)
  })

  it('checks users in warrants like impersonated users', async () => {
    const authorizer = policy()
    const user = await be(alice, warranted({ user: 'bob', groups: ['devs'] }), authorizer)
    assert.ok(authorizer.asked.includes('impersonate users/bob in one'))
    assert.ok(authorizer.asked.includes('impersonate groups/devs in one'))
    assert.deepEqual(user.extra?.[warrant], [
      JSON.stringify({ user: 'bob', groups: ['devs'], extra: { [scopes]: ['cluster:one'] } }),
    ])
    const onBob = /^configmaps is forbidden: .* cannot impersonate-on:user-info:list/
    await refused(be(alice, warranted({ user: 'bob' }), policy('users/bob')), 403, onBob)
    await refused(be(alice, warranted({ user: 'x', groups: ['system:kcp:admin'] })), 403, gate)
    const nested = {
      user: 'x',
      extra: { [warrant]: [JSON.stringify({ user: 'y', groups: ['system:masters'] })] },
    }
    await refused(be(alice, warranted(nested)), 403, gate)
  })

  it('limits the number and depth of warrants, and refuses invalid ones', async () => {
    const deep = (depth: number): object =>
      depth === 0 ? { user: 'x' } : { user: 'x', extra: { [warrant]: [JSON.stringify(deep(depth - 1))] } }
    const many = Array.from({ length: 40 }, () => [`Impersonate-Extra-${warrant}`, '{"user":"x"}']).flat()
    for (const lines of [warranted(deep(7)), ['Impersonate-User', 'alice', ...many]]) await be(master, lines)
    await refused(be(alice, ['Impersonate-User', 'alice', ...many]), 400, /more than 16 warrants/)
    await refused(
      be(alice, ['Impersonate-User', 'alice', `Impersonate-Extra-${warrant}`, '{"user":']),
      400,
      /invalid warrant/,
    )
    await refused(be(alice, warranted({ user: 7 })), 400, /invalid warrant/)
  })

  it('can narrow where an identity counts, and not widen it', async () => {
    const user = await be(alice, [
      'Impersonate-User',
      'bob',
      `Impersonate-Extra-${scopes}`,
      'cluster:two,cluster:one',
    ])
    assert.deepEqual(user.extra?.[scopes], ['cluster:two,cluster:one', 'cluster:one'])
    const robot = 'system:serviceaccount:a:b'
    const foreign = ['Impersonate-User', robot, `Impersonate-Extra-${home}`, 'two']
    assert.deepEqual((await be(alice, foreign)).extra, { [home]: ['two'], [scopes]: ['cluster:one'] })
    const unnamed = policy('authentication.k8s.io/userextras')
    await refused(
      be(alice, foreign, unnamed),
      403,
      /"two" is forbidden: .* "userextras\/authentication.kcp.io\/cluster-name"/,
    )
    const inWarrant = warranted({ user: robot, extra: { [home]: ['two'] } })
    await refused(be(alice, inWarrant, unnamed), 403, /is forbidden/)
    assert.deepEqual((await be(alice, inWarrant)).extra?.[warrant], [
      JSON.stringify({ user: robot, extra: { [home]: ['two'], [scopes]: ['cluster:one'] } }),
    ])
    const own = ['Impersonate-User', 'system:serviceaccount:a:b', `Impersonate-Extra-${home}`, 'one']
    assert.deepEqual((await be(alice, own)).extra?.[home], ['one'])
  })

  it('requires system:masters across all clusters', async () => {
    await refused(be(admin, ['Impersonate-User', 'bob'], policy(), '*'), 403, gate)
    const user = await be(
      master,
      ['Impersonate-User', 'bob', 'Impersonate-Group', 'system:masters'],
      policy('users'),
      '*',
    )
    assert.deepEqual(user, { name: 'bob', groups: ['system:masters', 'system:authenticated'] })
  })
})
