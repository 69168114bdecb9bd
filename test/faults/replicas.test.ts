import assert from 'node:assert/strict'
import { notRun } from '../support/notrun.ts'
import { etcdProgram, noEtcd } from '../support/servers/etcd.ts'
import { disturbReplicas } from './replicas.ts'

if (etcdProgram() === undefined) notRun('killed replicas', noEtcd)
else
  describe('killed servers over a killed etcd', () => {
    it('lose no acknowledged write, and no event of a watch', async () => {
      assert.ok((await disturbReplicas(20)) > 20)
    }).timeout(120_000)
  })
