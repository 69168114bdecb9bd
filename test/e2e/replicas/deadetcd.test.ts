import assert from 'node:assert/strict'
import { type Client, clientOf } from '../../support/client.ts'
import { notRun } from '../../support/notrun.ts'
import { eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../support/servers/etcd.ts'
import { type Gate, openGate } from '../../support/servers/gate.ts'
import { configAt } from '../../support/watcher.ts'

const configMaps = '/clusters/root/api/v1/namespaces/default/configmaps'

if (etcdProgram() === undefined) notRun('SIGTERM without etcd', noEtcd)
else
  for (const replicas of [1, 2])
    describe(`SIGTERM while etcd does not answer, --replicas ${replicas}`, function () {
      this.timeout(120_000)
      let etcd: Etcd
      let gate: Gate
      let oriel: Oriel
      let client: Client
      before(async () => {
        etcd = await startEtcd()
        gate = await openGate(Number(etcd.endpoint.split(':')[1]))
        const args = ['--store', `etcd://127.0.0.1:${gate.port}`, '--replicas', String(replicas)]
        oriel = await startOriel({ args })
        client = await clientOf(configAt(oriel, oriel.url))
        const namespace = () => client('/clusters/root/api/v1/namespaces/default')
        await eventually(namespace, ({ status }) => status === 200)
      })
      after(async () => {
        client.close()
        await oriel.kill()
        await gate.close()
        await etcd.stop()
      })

      it('ends the server before a supervisor kills it, and says why', async () => {
        gate.sever()
        const waiting = client(configMaps, { method: 'POST', body: { metadata: { name: 'waits' } } })
        const [stopped] = await Promise.allSettled([oriel.stop(), waiting])
        assert.deepEqual(stopped, { status: 'fulfilled', value: 1 })
        // What a process has written arrives after its end.
        const said = async () => oriel.output()
        await eventually(said, text => /^oriel: the server did not stop within 15 seconds.*\.$/m.test(text))
      })
    })
