import type { Command } from 'commander'
import { count } from './values.ts'

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
  readonly auditWebhookConfigFile?: string
}

/** Adds the flags to a command. */
export const addAuditFlags = (command: Command): Command =>
  command
    .optionsGroup('Audit:')
    .option('--audit-policy-file <path>', 'audit policy, an audit.k8s.io/v1 Policy; required for auditing')
    .option('--audit-log-path <path>', 'file that audit events are written to; - is standard output')
    .option('--audit-log-maxsize <megabytes>', 'size at which the audit log is rotated', count, 100)
    .option('--audit-log-maxbackup <number>', 'rotated audit logs that are kept; 0 keeps all', count, 0)
    .option('--audit-log-maxage <days>', 'days that rotated audit logs are kept; 0 for no limit', count, 0)
    .option('--audit-webhook-config-file <path>', 'kubeconfig of a webhook that receives audit events')
