import type { Command } from 'commander'
import { addRule, flagsNeed, type GivenFlags } from './rules.ts'
import { count, positiveCount, truth } from './values.ts'

/** The audit policy and the destinations of audit events. */
export interface AuditFlags {
  readonly auditPolicyFile?: string
  /** `-` is standard output. */
  readonly auditLogPath?: string
  /** Megabytes. */
  readonly auditLogMaxsize: number
  readonly auditLogMaxbackup: number
  /** Days. */
  readonly auditLogMaxage: number
  readonly auditLogTruncateEnabled: boolean
  /** Bytes. */
  readonly auditLogTruncateMaxEventSize: number
  readonly auditWebhookConfigFile?: string
  readonly auditWebhookTruncateEnabled: boolean
  /** Bytes. */
  readonly auditWebhookTruncateMaxEventSize: number
  /** Bytes. */
  readonly auditWebhookTruncateMaxBatchSize: number
}

/** Megabytes of the audit log. */
export const defaultMaxSize = 100

/** Bytes, as in Kubernetes. */
const defaultEventSize = 102_400
const defaultBatchSize = 10_485_760

/** Adds the flags to a command. */
export function addAuditFlags(command: Command): Command {
  addAuditOptions(command)
  flagsNeed(command, [...ofLog, ...truncation('log')], '--audit-log-path')
  flagsNeed(command, ['--audit-log-truncate-max-event-size'], '--audit-log-truncate-enabled')
  flagsNeed(command, [...truncation('webhook'), batchSize], '--audit-webhook-config-file')
  flagsNeed(command, ['--audit-webhook-truncate-max-event-size'], '--audit-webhook-truncate-enabled')
  addRule(command, rotationOfOutput)
  return addRule(command, smallBatch)
}

const ofLog = ['--audit-log-maxsize', '--audit-log-maxbackup', '--audit-log-maxage']
const truncation = (sink: 'log' | 'webhook'): readonly string[] => [
  `--audit-${sink}-truncate-enabled`,
  `--audit-${sink}-truncate-max-event-size`,
]
const batchSize = '--audit-webhook-truncate-max-batch-size'
const eventSize = '--audit-webhook-truncate-max-event-size'

/** What is written to standard output is rotated by its reader, if at all. */
function rotationOfOutput({ has, value }: GivenFlags): string | undefined {
  const flag = value('--audit-log-path') === '-' ? ofLog.find(has) : undefined
  return (
    flag && `${flag} has no effect with --audit-log-path -, which is standard output: remove one of them.`
  )
}

/** kube-apiserver has the same rule: an event of the largest size must fit in a batch. */
const smallBatch = ({ value }: GivenFlags): string | undefined =>
  Number(value(batchSize)) < Number(value(eventSize))
    ? `${batchSize} ${value(batchSize)} is smaller than ${eventSize} ${value(eventSize)}: make it as large.`
    : undefined

const addAuditOptions = (command: Command): Command =>
  command
    .optionsGroup('Audit:')
    .option('--audit-policy-file <path>', 'audit policy, an audit.k8s.io/v1 Policy; required for auditing')
    .option('--audit-log-path <path>', 'file that audit events are written to; - is standard output')
    .option(
      '--audit-log-maxsize <megabytes>',
      'size at which the audit log is rotated',
      count,
      defaultMaxSize,
    )
    .option('--audit-log-maxbackup <number>', 'rotated audit logs that are kept; 0 keeps all', count, 0)
    .option('--audit-log-maxage <days>', 'days that rotated audit logs are kept; 0 for no limit', count, 0)
    .option('--audit-log-truncate-enabled [boolean]', truncates('audit log'), truth, false)
    .option(
      '--audit-log-truncate-max-event-size <bytes>',
      longest('audit log'),
      positiveCount,
      defaultEventSize,
    )
    .option('--audit-webhook-config-file <path>', 'kubeconfig of a webhook that receives audit events')
    .option('--audit-webhook-truncate-enabled [boolean]', truncates('audit webhook'), truth, false)
    .option(
      '--audit-webhook-truncate-max-event-size <bytes>',
      longest('audit webhook'),
      positiveCount,
      defaultEventSize,
    )
    .option(
      '--audit-webhook-truncate-max-batch-size <bytes>',
      'maximum size of the events of one request to the audit webhook, if there are several',
      positiveCount,
      defaultBatchSize,
    )

const truncates = (sink: string): string =>
  `leave the objects out of events that are too large for the ${sink}`

const longest = (sink: string): string =>
  `size from which objects are left out of events for the ${sink}; an event that is larger without them is dropped`
