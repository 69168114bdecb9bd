import type { RequestContext } from '../../framework/context.ts'
import { StatusError } from '../../framework/errors.ts'
import type { Item } from '../../framework/item.ts'
import type { ObjectKey } from '../../framework/object.ts'
import type { WriteOptions } from '../../framework/storage.ts'
import { failureOf } from '../failure.ts'
import { sentItem } from './item.ts'
import type { ShardRequest } from './request.ts'
import type { Source } from './source.ts'
import { passWarnings } from './warnings.ts'

/** One request about one object, and the object that is answered. */
export async function itemFor(
  source: Source,
  ctx: RequestContext,
  key: ObjectKey,
  request: Omit<ShardRequest, 'signal'>,
): Promise<Item> {
  const answer = await source.ask(ctx, request)
  passWarnings(ctx, answer)
  try {
    return sentItem(onOneLine(Buffer.from(await answer.body.arrayBuffer())), key.cluster)
  } catch (error) {
    throw failureOf(error)
  }
}

const onOneLine = (bytes: Buffer): Buffer => (bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes)

/** What writes say in their query. */
export const queryOf = ({ dryRun, fieldManager }: WriteOptions) => ({
  dryRun: dryRun ? 'All' : undefined,
  fieldManager,
})

/** Somebody else was faster. Fields that others own are a conflict too, but not one that goes away. */
export const isLostRace = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 409 && error.reason === 'Conflict' && !isAboutFields(error)

const isAboutFields = ({ status }: StatusError): boolean =>
  status.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') ?? false
