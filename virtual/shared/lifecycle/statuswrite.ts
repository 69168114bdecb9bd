import { isDeepStrictEqual } from 'node:util'
import { invalid, type KubeObject } from '../../../framework/index.ts'
import type { LogicalCluster } from '../../../kcp/index.ts'
import { remaining, type Stage } from './stage.ts'

/**
 * Applies a write of the status of a LogicalCluster: the own entry may be removed and conditions may be set;
 * everything else stays unchanged. Other changes of the list are rejected (kcp
 * `virtual/initializingworkspaces/builder`, update validation).
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

/** Whether the list has the same entries in any order, or all but the own one; compared as multisets. */
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
