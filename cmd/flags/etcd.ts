import { type Command, InvalidArgumentError, Option } from 'commander'
import type { EtcdAccessFlags } from '../files/etcdaccess.ts'
import { duration, truth } from './values.ts'

/** How to reach a store in etcd; the names are those of kube-apiserver where it has the flag. */
export interface EtcdAccessPrefix extends EtcdAccessFlags {
  readonly etcdPrefix: string
}

export interface EtcdFlags extends EtcdAccessPrefix {
  /** Whether the servers share keys and the tokens of administrators in etcd. */
  readonly etcdSharedKeys: boolean
  /** Milliseconds. */
  readonly etcdCompactionInterval: number
}

export const addEtcdFlags = (command: Command): Command =>
  addEtcdAccessFlags(command)
    .option(
      '--etcd-shared-keys <true|false>',
      'whether servers share their certificate authority, the key of service account tokens and the tokens of administrators in etcd',
      truth,
      true,
    )
    .addOption(compactionOption())

/** How often the history in etcd is compacted. */
export const compactionOption = (): Option =>
  new Option(
    '--etcd-compaction-interval <duration>',
    'how often history is compacted, and how long it is kept at least; 0: never',
  )
    .argParser(duration)
    .default(300_000, '5m')

/** The flags of the connection only. */
export const addEtcdAccessFlags = (command: Command, defaultPrefix = '/oriel'): Command =>
  command
    .optionsGroup('Store in etcd:')
    .option('--etcd-prefix <prefix>', 'prefix of all keys in etcd', prefix, defaultPrefix)
    .option('--etcd-cafile <path>', 'certificate authorities of etcd, PEM (default: those of the system)')
    .option('--etcd-certfile <path>', 'client certificate for etcd, PEM')
    .option('--etcd-keyfile <path>', 'private key of the client certificate, PEM')
    .option('--etcd-user <name>', 'user of etcd')
    .option('--etcd-password-file <path>', 'file with the password of the user of etcd')

function prefix(text: string): string {
  if (!/^(\/[\w.-]+)+$/.test(text) || text.length > 200)
    throw new InvalidArgumentError('Give a prefix that begins with a slash, such as /oriel.')
  return text
}
