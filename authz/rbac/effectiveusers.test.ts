import assert from 'node:assert/strict'
import {
  anonymous,
  clusterNameKey,
  scopesKey,
  type UserInfo,
  warrantKey,
} from '../../framework/request/user.ts'
import { effectiveUsers, isInScope, knownUser, prefixUser } from './effectiveusers.ts'

const authenticated = 'system:authenticated'
const robotName = 'system:serviceaccount:ns:robot'
type Extra = Readonly<Record<string, readonly string[]>>

const someone = (name: string, groups: readonly string[] = [], extra?: Extra): UserInfo => ({
  name,
  groups,
  ...(extra === undefined ? {} : { extra }),
})
const scopes = (...values: string[]): Extra => ({ [scopesKey]: values })
const home = (...clusters: string[]): Extra => ({ [clusterNameKey]: clusters })
const warrants = (...values: (object | string)[]): Extra => ({
  [warrantKey]: values.map(value => (typeof value === 'string' ? value : JSON.stringify(value))),
})
const namesIn = (user: UserInfo) => effectiveUsers(user, 'this').map(({ name }) => name)
const groupsIn = (user: UserInfo) =>
  [...new Set(effectiveUsers(user, 'this').flatMap(({ groups }) => groups))].sort()

describe('scopes', () => {
  // The table of kcp's TestIsInScope.
  for (const [values, inside] of [
    [[], true],
    [[''], false],
    [['cluster:this'], true],
    [['cluster:another'], false],
    [['cluster:this', 'cluster:another'], false],
    [['', 'cluster:this'], false],
    [['unknown:foo'], false],
    [['cluster:another,cluster:this'], true],
    [['cluster:another,cluster:this', 'cluster:this,cluster:other'], true],
    [['cluster:another,cluster:other'], false],
    [['cluster:this,cluster:other', 'cluster:another,cluster:jungle'], false],
    [[',,cluster:this'], true],
    [['cluster:*'], false],
    [[' cluster:this'], false],
    [['cluster:this '], false],
    [['CLUSTER:this'], false],
    [['cluster:'], false],
  ] as const)
    it(`${JSON.stringify(values)} are ${inside ? 'in' : 'out'}`, () => {
      assert.equal(isInScope(someone('u', [], scopes(...values)), 'this'), inside)
    })

  for (const [what, extra, inside] of [
    ['from another cluster', home('anotherws'), false],
    ['from this cluster', home('this'), true],
    ['without a cluster', {}, true],
    ['of two clusters', home('this', 'this'), false],
    ['scoped to its cluster', { ...home('this'), ...scopes('cluster:this') }, true],
    ['from another cluster, scoped to this one', { ...home('another'), ...scopes('cluster:this') }, false],
    ['scoped to another cluster', { ...home('this'), ...scopes('cluster:another') }, false],
  ] as const)
    it(`let a service account ${what} ${inside ? 'in' : 'not in'}`, () => {
      assert.equal(isInScope(someone(robotName, [], extra), 'this'), inside)
    })
})

describe('effective users', () => {
  it('of ordinary users are the user object itself', () => {
    const user = someone('alice', ['devs', authenticated])
    assert.deepEqual(effectiveUsers(user, 'this'), [user])
    assert.equal(effectiveUsers(user, 'this')[0], user)
  })

  it('of a service account are itself in its cluster, and its global name everywhere', () => {
    const robot = (extra?: Extra) => someone(robotName, ['system:serviceaccounts', authenticated], extra)
    assert.deepEqual(namesIn(robot()), [robotName])
    assert.deepEqual(namesIn(robot(home('this'))), [robotName, 'system:kcp:serviceaccount:this:ns:robot'])
    assert.deepEqual(effectiveUsers(robot(home('other')), 'this'), [
      { name: 'system:kcp:serviceaccount:other:ns:robot', groups: [authenticated] },
      { name: 'system:anonymous', groups: [authenticated] },
    ])
    assert.deepEqual(namesIn(robot(home('this', 'other'))), ['system:anonymous'])
  })

  it('of a service account that another logical cluster has confined to itself are nobody, wherever they are', () => {
    const confined = (...values: string[]): UserInfo =>
      someone(robotName, [authenticated], { ...home('other'), ...scopes(...values) })
    for (const values of [
      ['cluster:this'],
      ['cluster:third'],
      ['cluster:other,cluster:this', 'cluster:this'],
    ])
      assert.deepEqual(namesIn(confined(...values)), ['system:anonymous'], String(values))
    assert.deepEqual(namesIn(confined('cluster:other')), [
      'system:kcp:serviceaccount:other:ns:robot',
      'system:anonymous',
    ])
    assert.equal(prefixUser(confined('cluster:this'), 'p:').name, 'p:system:anonymous')
    const warranted = someone(
      'a',
      [],
      warrants({ user: robotName, extra: { ...home('other'), ...scopes('cluster:this') } }),
    )
    assert.ok(!namesIn(warranted).some(name => name.includes('robot')))
  })

  it('out of scope are system:anonymous, with the groups of the clusters in all scopes', () => {
    const user = someone(
      'alice',
      ['devs', authenticated],
      scopes('cluster:a,cluster:b', 'cluster:b,cluster:c'),
    )
    assert.deepEqual(effectiveUsers(user, 'this'), [
      { name: 'system:anonymous', groups: [authenticated, 'system:cluster:b'] },
    ])
    assert.deepEqual(effectiveUsers(someone('x', ['devs'], scopes('cluster:a')), 'this'), [anonymous])
  })

  // The table of kcp's TestAppliesToUserWithWarrantsAndScopes, as names.
  const nested = { user: 'b', extra: warrants({ user: 'c' }) }
  for (const [what, user, names] of [
    ['add to the user', someone('a', [], warrants({ user: 'b' }, { user: 'c' })), ['a', 'b', 'c']],
    ['may nest', someone('a', [], warrants(nested)), ['a', 'b', 'c']],
    [
      'that are invalid grant nothing',
      someone(
        'a',
        [],
        warrants(
          'invalid',
          '[]',
          '7',
          '{"user":7,"groups":["g"]}',
          '{"groups":"g"}',
          '{"user":"b","extra":{"k":"v"}}',
        ),
      ),
      ['a'],
    ],
    ['for a service account need its cluster', someone('a', [], warrants({ user: robotName })), ['a']],
    [
      'for a service account of the cluster',
      someone('a', [], warrants({ user: robotName, extra: home('this') })),
      ['a', robotName, 'system:kcp:serviceaccount:this:ns:robot'],
    ],
    [
      'for a service account of another cluster',
      someone('a', [], warrants({ user: robotName, extra: home('other') })),
      ['a', 'system:kcp:serviceaccount:other:ns:robot', 'system:anonymous'],
    ],
    [
      'out of scope grant nothing',
      someone('a', [], warrants({ user: 'b', extra: scopes('cluster:other') })),
      ['a', 'system:anonymous'],
    ],
    [
      'apply when the user is out of scope',
      someone('a', [], { ...scopes('cluster:other'), ...warrants({ user: 'b' }) }),
      ['b', 'system:anonymous'],
    ],
  ] as const)
    it(`by warrants: ${what}`, () => assert.deepEqual(namesIn(user), names))

  it('of a scoped warrant have the group of its cluster', () => {
    const scoped = warrants({ user: 'b', groups: ['g'], extra: scopes('cluster:this') })
    assert.deepEqual(groupsIn(someone('a', ['x'], scoped)), ['g', 'system:cluster:this', 'x'])
  })

  it('are limited in number', () => {
    let deep: object = { user: 'bottom' }
    for (let i = 0; i < 12; i++) deep = { user: `level${12 - i}`, extra: warrants(deep) }
    assert.ok(!namesIn(someone('a', [], warrants(deep))).includes('bottom'))
    const wide = Array.from({ length: 1000 }, (_, i) => ({ user: `w${i}` }))
    assert.ok(namesIn(someone('a', [], warrants(...wide))).length <= 64)
    // Also those that count for nothing, each of which costs.
    const nothing = Array.from({ length: 64 }, () => 'not a warrant')
    assert.deepEqual(namesIn(someone('a', [], warrants(...nothing, { user: 'b' }))), ['a'])
    const { extra } = prefixUser(someone('a', [], warrants(...nothing, { user: 'b' })), 'prefix:')
    assert.deepEqual(extra?.[warrantKey], [])
  })
})

describe('users of an export', () => {
  const prefixed = (user: UserInfo) => prefixUser(user, 'prefix:')

  it('have a prefix in name, groups and warrants', () => {
    assert.deepEqual(prefixed(someone('user', ['a', 'b'])), {
      name: 'prefix:user',
      groups: ['prefix:a', 'prefix:b'],
    })
    const warranted = prefixed(someone('user', [], warrants({ user: 'w', groups: ['c', 'd'] }, 'invalid')))
    assert.deepEqual(warranted.extra?.[warrantKey], ['{"user":"prefix:w","groups":["prefix:c","prefix:d"]}'])
  })

  it('have the global name of service accounts, or are anonymous', () => {
    const robot = (groups: readonly string[], extra?: Extra) => prefixed(someone(robotName, groups, extra))
    assert.deepEqual(robot(['system:serviceaccounts'], home('c')), {
      name: 'prefix:system:kcp:serviceaccount:c:ns:robot',
      groups: ['prefix:system:serviceaccounts'],
      extra: home('c'),
    })
    const nobody = 'prefix:system:anonymous'
    assert.deepEqual(robot([]), { name: nobody, groups: ['prefix:system:unauthenticated'] })
    assert.deepEqual(robot([authenticated]), { name: nobody, groups: ['prefix:system:authenticated'] })
  })
})

describe('the user as a logical cluster knows it', () => {
  it('is the user where it is valid', () => {
    for (const user of [
      someone('alice', ['dev']),
      someone('alice', ['dev'], { ...scopes('cluster:this'), ...warrants({ user: 'bob' }) }),
      someone(robotName, [authenticated], home('this')),
      someone(robotName),
    ])
      assert.equal(knownUser(user, 'this'), user)
  })

  it('is the global name of a service account of another logical cluster, without its groups', () => {
    const robot = someone(robotName, ['system:serviceaccounts', authenticated], {
      ...home('other'),
      ...warrants({ user: 'bob' }),
    })
    assert.deepEqual(knownUser(robot, 'this'), {
      name: 'system:kcp:serviceaccount:other:ns:robot',
      groups: [authenticated],
      extra: home('other'),
    })
  })

  it('has no name, group or extra that was chosen in another logical cluster', () => {
    const extra = { ...scopes('cluster:other'), 'example.com/role': ['admin'] }
    assert.deepEqual(knownUser(someone('alice', ['operators', authenticated], extra), 'this'), {
      name: anonymous.name,
      groups: [authenticated, 'system:cluster:other'],
      extra: scopes('cluster:other'),
    })
    assert.equal(knownUser(someone('alice', ['operators'], extra), 'this').name, anonymous.name)
    const twice = someone(robotName, [authenticated], home('this', 'other'))
    assert.equal(knownUser(twice, 'this').name, anonymous.name)
  })
})
