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
})
