import assert from 'node:assert/strict'
import { notRun } from '../support/notrun.ts'
import { etcdProgram, noEtcd } from '../support/servers/etcd.ts'
import { disturbReplicas } from './replicas.ts'

if (etcdProgram() === undefined) notRun('killed replicas', noEtcd)
else
  describe('three servers over three members of etcd, of which some are killed, paused or cut off', () => {
    it('lose no acknowledged write and no event of a watch, and no read goes back', async () => {
      const history = await disturbReplicas({ kills: 20, every: 7, longest: 2_000 })
      assert.ok(history.acknowledged.length > 20)
    }).timeout(240_000)
  })
