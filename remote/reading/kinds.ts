import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { WriteOptions } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import { shardBytes } from '../../framework/net/bodies.ts'
import { failureOf } from '../../framework/net/failure.ts'
import type { ShardRequest } from '../connection/connection.ts'
import { passWarnings } from '../connection/connection.ts'
import { sentItem } from './item.ts'
import type { Source } from './source.ts'

/** Sends a request for one object, and returns the object of the response. */
export async function itemFor(
  source: Source,
  ctx: RequestContext,
  key: ObjectKey,
  request: Omit<ShardRequest, 'signal'>,
): Promise<Item> {
  const answer = await source.ask(ctx, request)
  passWarnings(ctx, answer)
  const bytes = await shardBytes(answer.body)
  try {
    return sentItem(onOneLine(bytes), key.cluster)
  } catch (error) {
    throw failureOf(error)
  }
}

const onOneLine = (bytes: Buffer): Buffer => (bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes)

/** The query parameters of a write. */
export const queryOf = ({ dryRun, fieldManager }: WriteOptions) => ({
  dryRun: dryRun ? 'All' : undefined,
  fieldManager,
})

/** A conflict because the object was changed, not because of field managers: only the first goes away on a retry. */
export const isWriteConflict = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 409 && error.reason === 'Conflict' && !isAboutFields(error)

const isAboutFields = ({ status }: StatusError): boolean =>
  status.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') ?? false
