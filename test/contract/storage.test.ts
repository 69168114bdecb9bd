import { viewOf } from '../../framework/lens/view.ts'
import { memoryStorage } from '../support/storage/memorystorage.ts'
import type { StorageSubject } from './storage/bench.ts'
import { storageContract } from './storage.suite.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' }

async function reference(): Promise<StorageSubject> {
  const storage = memoryStorage(configMaps)
  return {
    storage,
    clusters: ['one', 'two'],
    compact: async () => storage.compact(),
    close: async () => undefined,
  }
}

/** The same storage behind lenses that change nothing but process everything. */
async function throughViews(): Promise<StorageSubject> {
  const subject = await reference()
  const identity = viewOf(subject.storage, () => ({
    matches: () => true,
    relabel: meta => ({ ...meta }),
    matchesObject: () => true,
    present: object => ({ ...object }),
    accept: object => object,
  }))
  return { ...subject, storage: viewOf(identity, () => ({})) }
}

storageContract('the reference', reference)
storageContract('a view of a view', throughViews, {
  skip: { 'pages are one snapshot': 'a filter drops remainingItemCount' },
})
