import assert from 'node:assert/strict'
import type { Item } from '../../framework/index.ts'
import { afterSettingBack } from '../../test/support/time/clocks.ts'
import { MountedCluster } from './mount.ts'

describe('a mounted cluster', () => {
  it('that does not answer is Unknown after a minute, also when the clock was set back', async () => {
    const item = { meta: { uid: 'a' }, object: { spec: { secretRef: { name: 'a' } } } } as unknown as Item
    const mounted = new MountedCluster(item)
    mounted.take(item, undefined)
    mounted.answered('no route')
    assert.equal(mounted.phase, 'Connecting')
    await afterSettingBack(60_000, () => mounted.answered('no route'))
    assert.equal(mounted.phase, 'Unknown')
  })
})
