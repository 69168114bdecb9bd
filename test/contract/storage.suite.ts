import { notRun } from '../support/notrun.ts'
import { Bench, type StorageSubject } from './storage/bench.ts'
import { deleting } from './storage/deleting.ts'
import { reading } from './storage/reading.ts'
import { watching } from './storage/watching.ts'
import { writing } from './storage/writing.ts'

export interface ContractOptions {
  /** Tests by name, with the reason why they do not apply. */
  readonly skip?: Readonly<Record<string, string>>
}

/** Runs the contract of `ResourceStorage` against a storage. */
export function storageContract(
  name: string,
  open: () => Promise<StorageSubject>,
  { skip = {} }: ContractOptions = {},
): void {
  describe(`${name} is a ResourceStorage`, () => {
    for (const [test, run] of Object.entries({ ...reading, ...writing, ...deleting, ...watching })) {
      const reason = skip[test]
      if (reason !== undefined) {
        notRun(test, reason)
        continue
      }
      it(test, async () => {
        const bench = new Bench(await open())
        try {
          await run(bench)
        } finally {
          await bench.close()
        }
      })
    }
  })
}
