import { storeContract } from '../../test/contract/store/contract.suite.ts'
import { beginsNewEpoch } from '../../test/contract/store/newepoch.suite.ts'
import { openMemoryStore, openTemporaryStore } from './memory.ts'

storeContract('memory', async () => {
  const store = openMemoryStore()
  return { store, close: () => store.close() }
})

storeContract('temporary', async () => {
  const store = openTemporaryStore()
  return { store, close: () => store.close() }
})

describe('a temporary store', () => {
  const open = async () => openTemporaryStore()
  beginsNewEpoch('refuses watches of the store of a process before it', open, open)
})
