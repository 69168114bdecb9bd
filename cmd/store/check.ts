import { checkStore, type StoreReport } from '../../shard/store/lmdb/offline.ts'
import { StoreError } from '../../shard/store/store.ts'
import { StartError } from '../files/starterror.ts'
import { lineText, print } from '../files/terminaltext.ts'
import { withProgress } from '../process/progress.ts'
import { type StoreFlags, sizeText, storeIn } from './place.ts'

export type CheckFlags = StoreFlags

/** `oriel store check`. Returns the exit code: 1 when a value is damaged. Throws `StartError` for an unreadable store. */
export async function check(flags: CheckFlags): Promise<number> {
  const directory = storeIn(flags)
  const report = await withProgress('Checking the store', say =>
    checkStore(directory, entries => say(`Checking the store: ${entries} entries`)),
  ).catch(error => {
    throw error instanceof StoreError ? new StartError(`${error.message}.`) : error
  })
  print(textOf(directory, report))
  return report.damaged.length === 0 ? 0 : 1
}

const textOf = (
  directory: string,
  { revision, compacted, values, bytes, commits, damaged }: StoreReport,
): string =>
  [
    `Store:            ${directory}`,
    `ResourceVersion:  ${revision} (watches resume after ${compacted})`,
    `Values:           ${values}, ${sizeText(bytes)}`,
    `Commits:          ${commits}`,
    `Damaged:          ${damaged.length === 0 ? 'none' : damaged.length}`,
    ...damaged.map(key => `  ${lineText(key)}`),
    '',
  ].join('\n')
