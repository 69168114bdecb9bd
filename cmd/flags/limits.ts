import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Command } from 'commander'
import type { Logger } from '../../framework/contract/log.ts'
import type { FairnessLimits } from '../../framework/fairness/fairness.ts'
import { ConnectionLimit } from '../../framework/server/connections.ts'
import { externalLogicalClusterAdmin, kcpAdmin, logicalClusterAdmin } from '../../kcp/users.ts'
import type { QuotaLimits } from '../../shard/admission/quota/quota.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { openFileLimit } from '../files/openfiles.ts'
import { addRule, type GivenFlags } from './rules.ts'
import { bytes, count, duration } from './values.ts'

/** The limits of concurrent requests; the first two flags are those of kube-apiserver. */
export interface LimitFlags {
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
  readonly maxWatches: number
  readonly maxConnections?: number
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
    .option(
      '--max-watches <number>',
      'watches served at the same time, shared fairly among users; 0 for no limit',
      count,
      20_000,
    )
    .option(
      '--max-connections <number>',
      'open connections, shared fairly among users: idle ones are closed at the limit; 0 for as many as the limit of open files permits (default: 20000, or what it permits)',
      count,
    )

/** Files that the server opens besides connections: the store, logs, connections to other servers. */
const otherFiles = 500

/** The connections that the limit of open files permits: under a low limit, half of it. */
const connectionsOf = (files: number): number => Math.max(files - otherFiles, Math.floor(files / 2))

/**
 * Of the flag, or 20,000, and never more than the limit of open files permits: beyond it, Node closes new connections at once and
 * reports nothing.
 */
export function connectionLimit(
  { maxConnections = 20_000 }: Pick<LimitFlags, 'maxConnections'>,
  log: Logger,
): ConnectionLimit {
  const most = connectionsOf(openFileLimit())
  return new ConnectionLimit(Math.min(maxConnections || most, most), log)
}

export const fairnessLimits = (flags: LimitFlags): FairnessLimits => ({
  reading: flags.maxRequestsInflight,
  mutating: flags.maxMutatingRequestsInflight,
  watching: flags.maxWatches,
  systemGroups: [kcpAdmin, logicalClusterAdmin, externalLogicalClusterAdmin],
})

/** The limits of what is stored. */
export interface QuotaFlags {
  readonly logicalClusterTotalObjectLimit: number
  /** Bytes. */
  readonly logicalClusterTotalBytesLimit: number
  readonly logicalClusterNamespaceLimit: number
  readonly workspaceDescendantLimit: number
  /** Bytes. */
  readonly totalBytesLimit?: number
  /** Bytes. */
  readonly logicalClusterDecodedBytesLimit: number
  /** Bytes. */
  readonly totalDecodedBytesLimit?: number
  /** Bytes. */
  readonly storeMinFree: number
  /** Milliseconds. */
  readonly eventTtl?: number
}

/** Adds the flags to a command; those of kcp are `--logical-cluster-total-object-limit` and `--event-ttl`. */
export const addQuotaFlags = (command: Command): Command =>
  addRule(addDecodedQuotas(addQuotas(command)), floorWithoutDisk).option(
    '--event-ttl <duration>',
    'how long events are kept after their last change; 0 for ever (default: 1h)',
    duration,
  )

const minFree = '--store-min-free'

/** Without a limit is how a store runs that is not on a disk of this machine: 0 is accepted there. */
function floorWithoutDisk({ has, value }: GivenFlags): string | undefined {
  if (!has(minFree) || value(minFree) === 0) return undefined
  const flag = ['--store', '--etcd-servers'].find(place => isElsewhere(value(place)))
  return (
    flag && `${minFree} has no effect with ${flag} ${value(flag)}, which is not on a disk: remove ${minFree}.`
  )
}

const isElsewhere = (where: unknown): boolean =>
  typeof where === 'string' && (where === 'memory:' || isEtcd(where))

const addQuotas = (command: Command): Command =>
  command
    .optionsGroup('Limits:')
    .option(
      '--logical-cluster-total-object-limit <number>',
      'objects in each logical cluster but root; 0 for no limit',
      count,
      100_000,
    )
    .option(
      '--logical-cluster-total-bytes-limit <bytes>',
      'bytes of the objects in each logical cluster but root, such as 512Mi; 0 for no limit',
      bytes,
      2 ** 30,
    )
    .option(
      '--logical-cluster-namespace-limit <number>',
      'namespaces in each logical cluster but root; 0 for no limit',
      count,
      10_000,
    )
    .option(
      '--workspace-descendant-limit <number>',
      'workspaces below each workspace but root, at any depth; 0 for no limit',
      count,
      20_000,
    )
    .option(
      '--total-bytes-limit <bytes>',
      'bytes of all objects, which are in memory; 0 for no limit (default: half of the memory)',
      bytes,
    )
    .option(
      '--store-min-free <bytes>',
      'free disk space of the store below which only deletions are accepted; 0 for no limit',
      bytes,
      512 * 2 ** 20,
    )

/** Limits of what is in memory as more than its bytes. */
const addDecodedQuotas = (command: Command): Command =>
  command
    .option(
      '--logical-cluster-decoded-bytes-limit <bytes>',
      'bytes of definitions, RBAC objects, policies, Views and owner references, which are kept decoded, in each logical cluster but root; 0 for no limit',
      bytes,
      128 * 2 ** 20,
    )
    .option(
      '--total-decoded-bytes-limit <bytes>',
      'bytes of all definitions, RBAC objects, policies, Views and owner references; 0 for no limit (default: an eighth of the heap limit of Node)',
      bytes,
    )

/** Of the machine, or of the container. */
const memory = (): number => Math.min(totalmem(), process.constrainedMemory() || totalmem())

export const quotaLimits = (flags: QuotaFlags): QuotaLimits => ({
  objects: flags.logicalClusterTotalObjectLimit,
  bytes: flags.logicalClusterTotalBytesLimit,
  namespaces: flags.logicalClusterNamespaceLimit,
  workspaces: flags.workspaceDescendantLimit,
  totalBytes: flags.totalBytesLimit ?? Math.floor(memory() / 2),
  decodedBytes: flags.logicalClusterDecodedBytesLimit,
  totalDecodedBytes: flags.totalDecodedBytesLimit ?? Math.floor(getHeapStatistics().heap_size_limit / 8),
})
