import { type Command, InvalidArgumentError, Option } from 'commander'
import { type EtcdAccessFlags, isEtcd } from '../files/etcdaccess.ts'
import { addRule, flagsBelongTogether } from './rules.ts'
import { interval, truth } from './values.ts'

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
    .argParser(interval)
    .default(300_000, '5m')

/** The flags of the connection only. */
export function addEtcdAccessFlags(command: Command, defaultPrefix = '/oriel'): Command {
  addEtcdOptions(command, defaultPrefix)
  flagsBelongTogether(command, '--etcd-certfile', '--etcd-keyfile')
  return flagsBelongTogether(command, '--etcd-user', '--etcd-password-file')
}

/** The command refuses flags of etcd where none of `places`, which are flags, has the address of an etcd. */
export const needEtcd = (command: Command, ...places: string[]): Command =>
  addRule(command, ({ has, value }) => {
    if (places.some(place => isEtcd(String(value(place) ?? '')))) return undefined
    const own = ofEtcd.filter(flag => command.options.some(({ long }) => long === flag))
    const flag = own.find(has)
    return flag
      ? `${flag} is for a store in etcd, of which there is none: add its address, such as etcd://host:2379, or remove ${flag}.`
      : undefined
  })

const ofEtcd = [
  '--etcd-prefix',
  '--etcd-cafile',
  '--etcd-certfile',
  '--etcd-keyfile',
  '--etcd-user',
  '--etcd-password-file',
  '--etcd-shared-keys',
  '--etcd-compaction-interval',
]

const addEtcdOptions = (command: Command, defaultPrefix: string): Command =>
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
