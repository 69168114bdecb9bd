import { storeContract } from '../../test/contract/store/contract.suite.ts'
import { openMemoryStore } from './memory.ts'

storeContract('memory', async () => {
  const store = openMemoryStore()
  return { store, close: () => store.close() }
})
