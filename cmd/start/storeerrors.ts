import { StatusError } from '../../framework/meta/errors.ts'
import { StoreError } from '../../shard/store/store.ts'
import { StartError } from '../files/starterror.ts'

/** Errors of the store are one sentence, also those that requests get. */
export function asStartError(error: unknown): never {
  if (error instanceof StatusError)
    throw new StartError(
      `The server could not start: ${error.message}. Start it again when the store answers.`,
    )
  throw error instanceof StoreError ? new StartError(error.message) : error
}

/** After a failed write the state of the store is unknown; the next start reads all acknowledged writes. */
export function endBecause({ message }: Error): never {
  process.stderr.write(`oriel: ${message}\n`)
  process.exit(1)
}
