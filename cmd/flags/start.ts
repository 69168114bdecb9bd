import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AuthorizerName, authorizerNames } from '../../authz/index.ts'
import { type AuditFlags, addAuditFlags } from './audit.ts'
import {
  type AuthenticationFlags,
  addAuthenticationFlags,
  addServiceAccountFlags,
  type ServiceAccountFlags,
} from './authentication.ts'
import { addEtcdFlags, type EtcdFlags, needEtcd } from './etcd.ts'
import { addIgnoredFlags, ignoredByStart } from './ignored.ts'
import { addKcpFlags } from './kcp.ts'
import { addLimitFlags, addQuotaFlags, type LimitFlags, type QuotaFlags } from './limits.ts'
import { addMountFlags, type MountFlags } from './mounts.ts'
import { addRule, flagsNeed } from './rules.ts'
import {
  addCertificateFlags,
  addServingFlags,
  addViewFlags,
  type CertificateFlags,
  type ServingFlags,
  type ViewFlags,
} from './serving.ts'
import { addShardFlags, type ShardFlags } from './shard.ts'
import { addTracingFlags, type TracingFlags } from './tracing.ts'
import { commonOption, duration, filledList, networks, textList } from './values.ts'

/** The flags of `oriel start`, checked. */
export interface StartFlags
  extends ServingFlags,
    CertificateFlags,
    MountFlags,
    AuthenticationFlags,
    ServiceAccountFlags,
    ShardFlags,
    AuditFlags,
    ViewFlags,
    LimitFlags,
    QuotaFlags,
    EtcdFlags,
    TracingFlags {
  /** The certificate authorities by which clients verify `tlsCertFile`. */
  readonly rootCaFile?: string
  readonly dataDirectory: string
  /** Processes that share the port. */
  readonly replicas: number
  /** Shards of one workspace tree, behind a front proxy if there is more than one. */
  readonly shards: number
  /**
   * `memory:`, `etcd://host:port,host:port`, or the directory of an LMDB environment; default: `store` in the data
   * directory.
   */
  readonly store?: string
  /** Host names, IP addresses and networks of issuers that workspace types name. */
  readonly issuerAllow?: readonly string[]
  /** Host names, IP addresses and networks of admission webhooks. */
  readonly webhookAllow?: readonly string[]
  readonly authorizationOrder?: readonly AuthorizerName[]
  readonly authorizationAlwaysAllowPaths?: readonly string[]
  readonly authorizationWebhookConfigFile?: string
  readonly authorizationWebhookVersion?: 'v1' | 'v1beta1'
  /** Milliseconds. */
  readonly authorizationWebhookCacheAuthorizedTtl?: number
  readonly authorizationWebhookCacheUnauthorizedTtl?: number
  /** Relative to the data directory. */
  readonly kubeconfigPath?: string
  readonly homeWorkspacesHomeCreatorGroups?: readonly string[]
}

/** Adds the flags to a command. */
export function addStartFlags(command: Command): Command {
  command
    .description('Serve logical clusters and their views from this machine.')
    .addOption(
      commonOption('--data-directory <path>', 'directory of certificates, tokens and objects').default(
        '.oriel',
      ),
    )
    .addOption(
      commonOption(
        '--store <location>',
        'where objects are stored: a directory, "memory:", or etcd://host:2379,... (default: "store" in the data directory)',
      ),
    )
    .option('--replicas <number>', 'processes that share the port, for several cores', upTo(64), 1)
    .option(
      '--shards <number>',
      'shards, each in a process, behind a front proxy; for development',
      upTo(16),
      1,
    )
  addViewFlags(addAuthorityFlag(addCertificateFlags(addServingFlags(command, 6443))))
  addServiceAccountFlags(addAuthenticationFlags(command))
  addAuditFlags(addAuthorizationFlags(command))
  addShardFlags(addAddressFlags(addMountFlags(command)))
  addTracingFlags(addEtcdFlags(addQuotaFlags(addLimitFlags(command))))
  return addIgnoredFlags(ignoredByStart, needEtcd(addKcpFlags(command), '--store', '--etcd-servers'))
}

const upTo =
  (most: number) =>
  (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : 0
    if (number < 1 || number > most) throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`)
    return number
  }

const addAuthorityFlag = (command: Command): Command =>
  flagsNeed(
    command.option(
      '--root-ca-file <path>',
      'PEM file of the certificate authorities that clients verify it with (default: --tls-cert-file)',
    ),
    ['--root-ca-file'],
    '--tls-cert-file',
  )

const webhookFile = '--authorization-webhook-config-file'

function addAuthorizationFlags(command: Command): Command {
  addAuthorizationOptions(command)
  addRule(command, ({ has, value }) => {
    const order = value('--authorization-order') as readonly AuthorizerName[] | undefined
    return has(webhookFile) && order?.includes('Webhook') === false
      ? `${webhookFile} has no effect, because --authorization-order has no Webhook: add Webhook to it, or remove the file.`
      : undefined
  })
  return flagsNeed(
    command,
    [
      '--authorization-webhook-version',
      '--authorization-webhook-cache-authorized-ttl',
      '--authorization-webhook-cache-unauthorized-ttl',
    ],
    webhookFile,
  )
}

const addAuthorizationOptions = (command: Command): Command =>
  command
    .optionsGroup('Authorization:')
    .option(
      '--authorization-order <names>',
      `order of the authorizers, comma-separated (default: ${authorizerNames.join(',')})`,
      authorizerOrder,
    )
    .option(
      '--authorization-always-allow-paths <paths>',
      'paths allowed without authorization, comma-separated; a trailing * matches a prefix (default: /healthz,/readyz,/livez)',
      textList,
    )
    .option('--authorization-webhook-config-file <path>', 'kubeconfig of an authorization webhook')
    .addOption(
      new Option(
        '--authorization-webhook-version <version>',
        'API version of the SubjectAccessReviews sent to the webhook',
      )
        .choices(['v1', 'v1beta1'])
        .default('v1beta1'),
    )
    .option(
      '--authorization-webhook-cache-authorized-ttl <duration>',
      'how long allowed decisions of the webhook are cached (default: 5m)',
      duration,
    )
    .option(
      '--authorization-webhook-cache-unauthorized-ttl <duration>',
      'how long denied decisions of the webhook are cached (default: 30s)',
      duration,
    )

const addAddressFlags = (command: Command): Command =>
  command
    .optionsGroup('Outbound connections:')
    .option(
      '--webhook-allow <address>',
      'private host, IP address or network (e.g. 10.1.0.0/16) that admission webhooks may use; may be repeated',
      networks,
    )
    .option(
      '--issuer-allow <address>',
      'private host, IP address or network that token issuers of workspaces may use; may be repeated',
      networks,
    )

/** kcp's authorizers, in the given order. */
function authorizerOrder(text: string): readonly AuthorizerName[] {
  return filledList(text).map(name => {
    const known = authorizerNames.find(each => each === name)
    if (known === undefined)
      throw new InvalidArgumentError(`${JSON.stringify(name)} is not one of ${authorizerNames.join(', ')}.`)
    return known
  })
}
