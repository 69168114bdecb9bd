import { storeContract } from '../../../test/contract/store/contract.suite.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { openEtcdStore } from './etcd.ts'

if (etcdProgram() === undefined) notRun('etcd store', noEtcd)
else
  describe('etcd store', () => {
    let etcd: Etcd
    let opened = 0
    before(async () => {
      etcd = await startEtcd()
    })
    after(() => etcd.stop())

    const open = () =>
      openEtcdStore({ endpoints: [etcd.endpoint], prefix: `/test${++opened}`, compactEvery: 0 })

    storeContract(
      'etcd',
      async () => {
        const store = await open()
        return { store, close: () => store.close() }
      },
      'many',
    )
  })
