import { inTurns, type Pace } from '../../framework/async/awaitable.ts'
import { type Extent, exceedsSteps } from '../../framework/json/extent.ts'
import { tooLarge } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { bodyLimit, mostValues } from '../../framework/wire/parsebody.ts'

/** Of an object that admission has changed: as large as a body may be. */
const most: Extent = { values: mostValues, characters: bodyLimit }

/** Throws 413 for an object that `who` has made too large: each of many policies and webhooks may add to it. */
export async function checkExtent(object: KubeObject, who: string, pace: Pace): Promise<void> {
  if (!(await inTurns(exceedsSteps(object, most), pace))) return
  throw tooLarge(
    `the object has more than ${most.values} values or ${most.characters} characters after ${who}`,
  )
}
