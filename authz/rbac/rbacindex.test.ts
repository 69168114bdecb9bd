import assert from 'node:assert/strict'
import {
  action,
  binding,
  clusterBinding,
  clusterRole,
  createFixture,
  groupNamed,
  role,
  user,
  userNamed,
} from '../testing/fixture.ts'

const rule = (verb: string) => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] })
const alice = user('alice', 'system:authenticated')
const asked = (verb: string) => action(`${verb} core/pods ns/a`)

describe('the roles of a binding', () => {
  const access = clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated'))
  const started = () => {
    const fixture = createFixture()
    fixture.put('ws', access)
    return fixture
  }

  it('are those of its logical cluster and of system:admin, in whatever order they come and go', async () => {
    const fixture = started()
    const bound = binding('ns', 'both', userNamed('alice'))
    const mine = clusterRole('both', rule('get'))
    const shared = clusterRole('both', rule('list'))
    const allowed = async () => [
      await fixture.allows(alice, asked('get')),
      await fixture.allows(alice, asked('list')),
    ]
    fixture.put('ws', bound)
    assert.deepEqual(await allowed(), [false, false])
    fixture.put('ws', mine)
    assert.deepEqual(await allowed(), [true, false])
    fixture.put('system:admin', shared)
    assert.deepEqual(await allowed(), [true, true])
    fixture.remove('ws', mine)
    assert.deepEqual(await allowed(), [false, true])
    fixture.put('ws', mine)
    fixture.remove('system:admin', shared)
    assert.deepEqual(await allowed(), [true, false])
    fixture.put('ws', clusterRole('both', rule('list')))
    assert.deepEqual(await allowed(), [false, true])
    fixture.remove('ws', bound)
    assert.deepEqual(await allowed(), [false, false])
  })

  it('are found again by a binding that comes back, and by one that names another role', async () => {
    const fixture = started()
    const bound = (name: string) => ({
      ...binding('ns', `role/${name}`, userNamed('alice')),
      metadata: { name: 'b', namespace: 'ns' },
    })
    fixture.put('ws', bound('a'))
    fixture.remove('ws', bound('a'))
    fixture.put('ws', role('ns', 'a', rule('get')))
    fixture.put('ws', role('ns', 'b', rule('list')))
    fixture.put('ws', bound('a'))
    assert.equal(await fixture.allows(alice, asked('get')), true)
    fixture.put('ws', bound('b'))
    assert.equal(await fixture.allows(alice, asked('get')), false)
    assert.equal(await fixture.allows(alice, asked('list')), true)
  })
})
