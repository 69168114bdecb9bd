import { type Command, InvalidArgumentError } from 'commander'

/** What is audited, and where it goes. */
export interface AuditFlags {
  readonly auditPolicyFile?: string
  /** `-` is standard output. */
  readonly auditLogPath?: string
  /** Megabytes, files and days. */
  readonly auditLogMaxsize: number
  readonly auditLogMaxbackup: number
  readonly auditLogMaxage: number
  readonly auditWebhookConfigFile?: string
}

/** Adds the flags to a command. */
export const auditFlags = (command: Command): Command =>
  command
    .option('--audit-policy-file <path>', 'what is audited: an audit.k8s.io/v1 Policy')
    .option('--audit-log-path <path>', 'the file that audit events go to; - is standard output')
    .option('--audit-log-maxsize <megabytes>', 'after which the file is put aside', wholeNumber, 100)
    .option('--audit-log-maxbackup <number>', 'of such files that are kept; 0 keeps all', wholeNumber, 0)
    .option('--audit-log-maxage <days>', 'that such files are kept; 0 keeps them for ever', wholeNumber, 0)
    .option('--audit-webhook-config-file <path>', 'a server that gets audit events, as a kubeconfig')

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.')
  return Number(text)
}
