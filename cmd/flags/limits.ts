import type { Command } from 'commander'
import type { FairnessLimits } from '../../framework/fairness/fairness.ts'
import { externalLogicalClusterAdmin, kcpAdmin, logicalClusterAdmin } from '../../kcp/users.ts'
import { count } from './values.ts'

/** The limits of concurrent requests; the flags are those of kube-apiserver. */
export interface LimitFlags {
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
}

/** Adds the flags to a command. */
export const addLimitFlags = (command: Command): Command =>
  command
    .optionsGroup('Limits:')
    .option(
      '--max-requests-inflight <number>',
      'read requests served at the same time, shared fairly among users; 0 for no limit',
      count,
      400,
    )
    .option(
      '--max-mutating-requests-inflight <number>',
      'write requests served at the same time, shared fairly among users; 0 for no limit',
      count,
      200,
    )

export const fairnessLimits = (flags: LimitFlags): FairnessLimits => ({
  reading: flags.maxRequestsInflight,
  mutating: flags.maxMutatingRequestsInflight,
  systemGroups: [kcpAdmin, logicalClusterAdmin, externalLogicalClusterAdmin],
})
