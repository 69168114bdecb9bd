import assert from 'node:assert/strict'
import fc from 'fast-check'
import { accountOf, clusterNameKey, type UserInfo } from './user.ts'

const userOf = (name: string, cluster?: string): UserInfo => ({
  name,
  groups: ['system:authenticated'],
  ...(cluster !== undefined && { extra: { [clusterNameKey]: [cluster] } }),
})
const admin: UserInfo = { name: 'admin', groups: ['system:masters'] }

describe('the account under which requests are counted', () => {
  it('is one for all service accounts of a logical cluster and users of its issuers', () => {
    const accounts = ['system:serviceaccount:default:a', 'system:serviceaccount:default:b', 'issuer:c']
    assert.deepEqual([...new Set(accounts.map(name => accountOf(userOf(name, 'one'))))], ['cluster:one'])
    assert.equal(accountOf(userOf('system:serviceaccount:default:a', 'two')), 'cluster:two')
    assert.equal(accountOf(userOf('alice')), 'alice')
  })

  it('is not that of another user or of a logical cluster, whatever name a user has', () => {
    assert.equal(accountOf(userOf('cluster:one')), 'user:cluster:one')
    const name = fc.array(fc.constantFrom('cluster:', 'user:', 'one', 'a')).map(parts => parts.join(''))
    const user = fc.record({ name, cluster: fc.constantFrom(undefined, 'one', 'a') })
    fc.assert(
      fc.property(user, user, (one, other) => {
        const [account, another] = [one, other].map(each => accountOf(userOf(each.name, each.cluster)))
        const isSame =
          one.cluster === undefined || other.cluster === undefined
            ? one.cluster === other.cluster && one.name === other.name
            : one.cluster === other.cluster
        assert.equal(account === another, isSame, `${account} ${another}`)
      }),
    )
  })

  it('is that of the user who impersonates another one, except for privileged users', () => {
    assert.equal(accountOf(userOf('bob'), userOf('alice')), 'alice')
    assert.equal(accountOf(admin, userOf('alice')), 'alice')
    assert.equal(accountOf(userOf('bob'), admin), 'bob')
  })

  it('is empty before authentication', () => assert.equal(accountOf(undefined), ''))
})
