import { canonicalText } from '../../framework/apply/canonicaltext.ts'
import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import { type Item, itemFrom, keyOf } from '../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { encodeObject } from '../../framework/wire/encode.ts'

/** The object with a large status, which is encoded between the turns of other requests. `status` is its last member. */
export async function withLargeStatus(
  object: KubeObject,
  status: object,
  cluster: ClusterName,
): Promise<Item> {
  const { status: _, ...others } = object
  const { bytes, offsets } = encodeObject(others as KubeObject)
  const text = await inTurns(canonicalText(status, Number.POSITIVE_INFINITY), new Pace())
  const tail = Buffer.from(`,"status":${text}}`)
  const whole = Buffer.concat([bytes.subarray(0, -1), tail])
  return itemFrom({ bytes: whole, offsets }, keyOf(object, cluster))
}
