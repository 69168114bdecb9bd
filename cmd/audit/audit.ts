import {
  AuditMeters,
  type Auditor,
  type AuditorOptions,
  type AuditPolicy,
  type AuditSink,
  auditPolicyOf,
  createAuditor,
  truncating,
} from '../../framework/audit/index.ts'
import { parseYaml } from '../../framework/wire/yaml.ts'
import { pathAnnotation } from '../../kcp/annotations.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import type { Shard } from '../../shard/index.ts'
import { auditWebhook } from '../authentication/webhooks.ts'
import type { AuthorizationParts } from '../authorization/authorization.ts'
import { readFlagFile } from '../files/files.ts'
import type { FileWatchEnding } from '../files/follow.ts'
import { StartError } from '../files/starterror.ts'
import { type AuditFlags, defaultMaxSize } from '../flags/audit.ts'
import { auditLog } from './auditlog.ts'

/** Policy and sinks of audit events; the auditor is created once the informers exist. */
export interface PreparedAudit {
  auditor(shard: Pick<Shard, 'informers'>, missing?: AuditorOptions['missing']): Auditor
  /** Resolves when the last events are written and sent. */
  close(): Promise<void>
}

/** The workspace path of a logical cluster, for audit annotations. */
const pathsFrom = ({ informers }: Pick<Shard, 'informers'>): AuditorOptions['pathOf'] => {
  const clusters = informers.for({ group: 'core.kcp.io', version: 'v1alpha1', resource: 'logicalclusters' })
  return cluster => clusters.get(cluster, '', logicalClusterName)?.meta.annotations[pathAnnotation] ?? ''
}

/** The RBAC rules that would have allowed a denied request, as JSON. */
export const missingFor = (
  { backend }: Pick<Shard, 'backend'>,
  authorization: AuthorizationParts,
): NonNullable<AuditorOptions['missing']> => {
  const missingFor = authorization.missing(backend.authorizer)
  return ({ user, action }) => {
    const missing = missingFor(user, action)
    return missing.length === 0 ? undefined : JSON.stringify(missing)
  }
}

const megabyte = 1024 * 1024
const day = 86_400_000

/** Reads the audit flags; undefined without any. Throws `StartError` on invalid files and flags. */
export async function prepareAudit(
  options: AuditFlags,
  ending: FileWatchEnding,
): Promise<PreparedAudit | undefined> {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = options
  if (auditPolicyFile === undefined) {
    if (auditLogPath === undefined && auditWebhookConfigFile === undefined) return undefined
    throw new StartError('Auditing requires a policy: add --audit-policy-file.')
  }
  const policy = await readPolicy(auditPolicyFile)
  const meters = new AuditMeters()
  const sinks = await sinksFor(options, meters, ending)
  if (sinks.length === 0)
    throw new StartError(
      'Audit events have no destination: add --audit-log-path or --audit-webhook-config-file.',
    )
  return new Prepared(policy, sinks, meters)
}

class Prepared implements PreparedAudit {
  readonly #options: Pick<AuditorOptions, 'policy' | 'sinks' | 'meters'>
  #auditor: Auditor | undefined

  constructor(policy: AuditPolicy, sinks: readonly AuditSink[], meters: AuditMeters) {
    this.#options = { policy, sinks, meters }
  }

  auditor(shard: Pick<Shard, 'informers'>, missing?: AuditorOptions['missing']): Auditor {
    this.#auditor = createAuditor({ ...this.#options, pathOf: pathsFrom(shard), ...(missing && { missing }) })
    return this.#auditor
  }

  async close(): Promise<void> {
    await this.#auditor?.close()
    await Promise.all(this.#options.sinks.map(sink => sink.close()))
  }
}

async function readPolicy(path: string): Promise<AuditPolicy> {
  const text = await readFlagFile('--audit-policy-file', path)
  try {
    return auditPolicyOf(parseYaml(text).value)
  } catch (error) {
    throw new StartError(`Invalid audit policy in ${path}: ${(error as Error).message}.`)
  }
}

async function sinksFor(
  options: AuditFlags,
  meters: AuditMeters,
  { log, signal }: FileWatchEnding,
): Promise<readonly AuditSink[]> {
  const [path, webhook] = [options.auditLogPath, options.auditWebhookConfigFile]
  const common = { meters, log }
  const sinks: AuditSink[] = []
  if (path !== undefined) {
    const sink = await auditLog({ path, ...rotation(options), meters }, log)
    const maxEventSize = options.auditLogTruncateMaxEventSize
    sinks.push(options.auditLogTruncateEnabled ? truncating(sink, { ...common, maxEventSize }) : sink)
  }
  if (webhook !== undefined) {
    const sink = await auditWebhook(webhook, {
      ...common,
      signal,
      batchBytes: options.auditWebhookTruncateMaxBatchSize,
    })
    const maxEventSize = options.auditWebhookTruncateMaxEventSize
    sinks.push(options.auditWebhookTruncateEnabled ? truncating(sink, { ...common, maxEventSize }) : sink)
  }
  return sinks
}

/** 0 megabytes are the default, as in Kubernetes. */
const rotation = ({ auditLogMaxsize, auditLogMaxbackup, auditLogMaxage }: AuditFlags) => ({
  maxSize: (auditLogMaxsize || defaultMaxSize) * megabyte,
  maxBackups: auditLogMaxbackup,
  maxAge: auditLogMaxage * day,
})
