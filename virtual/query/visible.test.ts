import assert from 'node:assert/strict'
import { allow, deny } from '../../framework/contract/authorizer.ts'
import type { Host } from '../../framework/index.ts'
import { testContext } from '../../test/support/context.ts'
import { afterSettingBack } from '../../test/support/time/clocks.ts'
import type { AccessHistory } from '../shared/access/history.ts'
import { VisibleClusters } from './visible.ts'

describe('the logical clusters that a user can access', () => {
  it('are decided again after ten seconds, also when the clock was set back', async () => {
    let isAllowed = true
    const authorizer = { authorize: async () => (isAllowed ? allow('') : deny('')) }
    const informers = { for: () => ({ list: () => [{ key: { cluster: 'one' } }] }) }
    const host = { informers, backend: { authorizer } } as unknown as Host
    const visible = new VisibleClusters(host, { follow: () => undefined } as unknown as AccessHistory)
    const ada = { name: 'ada', uid: '', groups: [], extra: {} }
    assert.deepEqual(await visible.of(ada, testContext()), ['one'])
    isAllowed = false
    assert.deepEqual(await afterSettingBack(10_000, () => visible.of(ada, testContext())), [])
  })

  it('are decided again after a change that comes while they are decided', async () => {
    const allowed = new Set(['one', 'two'])
    let changed: (cluster: string) => void = () => undefined
    let revoke = (): void => {
      allowed.delete('one')
      changed('one')
      revoke = () => undefined
    }
    const authorize = async (_user: unknown, { cluster }: { cluster: string }) => {
      const isAllowed = allowed.has(cluster)
      if (cluster === 'two') revoke()
      return isAllowed ? allow('') : deny('')
    }
    const all = ['one', 'two'].map(cluster => ({ key: { cluster } }))
    const informers = { for: () => ({ list: () => all }) }
    const host = { informers, backend: { authorizer: { authorize } } } as unknown as Host
    const follow = (_scope: string, follower: typeof changed): void => {
      changed = follower
    }
    const visible = new VisibleClusters(host, { follow } as unknown as AccessHistory)
    const ada = { name: 'ada', uid: '', groups: [], extra: {} }
    assert.deepEqual(await visible.of(ada, testContext()), ['one', 'two'])
    assert.deepEqual(await visible.of(ada, testContext()), ['two'])
  })
})
