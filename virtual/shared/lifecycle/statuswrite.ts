import { isDeepStrictEqual } from 'node:util'
import { invalid, type KubeObject } from '../../../framework/index.ts'
import type { LogicalCluster } from '../../../kcp/index.ts'
import { remaining, type Stage } from './stage.ts'

/**
 * What a write of the status makes of a logical cluster: its own entry of the list may go, conditions may be reported,
 * everything else stays. Any other list is refused (chapter 10, sections 4.4 and 5; 14, S3).
 */
export function accepted(
  stage: Stage,
  identifier: string,
  next: KubeObject,
  current: KubeObject,
): KubeObject {
  const before = current as LogicalCluster
  const list = (next as LogicalCluster).status?.[`${stage.role}s`] ?? []
  if (!isAllowed(list, remaining(stage, before), identifier)) throw refusal(stage, identifier, before, list)
  const { conditions } = (next as LogicalCluster).status ?? {}
  const status = {
    ...before.status,
    [`${stage.role}s`]: list,
    ...(conditions === undefined ? {} : { conditions }),
  }
  return { ...next, status }
}

/** The same entries in any order, or all but the own one: as multisets, so that nothing is replaced by a duplicate. */
function isAllowed(next: unknown, before: readonly string[], own: string): next is readonly string[] {
  if (!Array.isArray(next)) return false
  const entries = next.toSorted()
  const without = before.filter(entry => entry !== own)
  return isDeepStrictEqual(entries, before.toSorted()) || isDeepStrictEqual(entries, without.toSorted())
}

const refusal = (
  { role, refusalGroup }: Stage,
  identifier: string,
  { metadata }: LogicalCluster,
  value: unknown,
): Error =>
  invalid('LogicalCluster', refusalGroup, metadata.name ?? '', [
    {
      type: 'FieldValueInvalid',
      field: `status.${role}s`,
      value,
      detail: `only removing the "${identifier}" ${role} is supported`,
    },
  ])
