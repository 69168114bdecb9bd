import assert from 'node:assert/strict'
import type { Item } from '../../framework/index.ts'
import { afterSettingBack } from '../../test/support/time/clocks.ts'
import { identityFields } from './apis.ts'
import { MountedCluster } from './mount.ts'
import type { KubeCluster } from './types.ts'

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

describe('the user at a mounted cluster', () => {
  const mount = { spec: { secretRef: { name: 'a' } } } as unknown as KubeCluster
  const robot = {
    name: 'system:serviceaccount:default:robot',
    groups: ['system:serviceaccounts', 'system:authenticated'],
    extra: { 'authentication.kcp.io/cluster-name': ['home'] },
  }
  it('has its own name in its own workspace', () =>
    assert.deepEqual(identityFields(mount, robot, 'home'), {
      'Impersonate-User': 'oriel:system:serviceaccount:default:robot',
      'Impersonate-Group': ['oriel:system:serviceaccounts', 'oriel:system:authenticated'],
      'Impersonate-Extra-mounts.contrib.kcp.io%2Fcluster': 'home',
    }))
  it('cannot have the name of a service account of another workspace', () =>
    assert.deepEqual(identityFields(mount, robot, 'other'), {
      'Impersonate-User': 'oriel:system:kcp:serviceaccount:home:default:robot',
      'Impersonate-Group': ['oriel:system:authenticated'],
      'Impersonate-Extra-mounts.contrib.kcp.io%2Fcluster': 'other',
    }))
  it('cannot have a name or group that is valid in another workspace only', () => {
    const extra = { 'authentication.kcp.io/scopes': ['cluster:home'] }
    const alice = { name: 'alice', groups: ['operators', 'system:authenticated'], extra }
    assert.equal(identityFields(mount, alice, 'home')['Impersonate-User'], 'oriel:alice')
    assert.deepEqual(identityFields(mount, alice, 'other'), {
      'Impersonate-User': 'oriel:system:anonymous',
      'Impersonate-Group': ['oriel:system:authenticated', 'oriel:system:cluster:home'],
      'Impersonate-Extra-mounts.contrib.kcp.io%2Fcluster': 'other',
    })
  })
})
