import { type Command, InvalidArgumentError, Option } from 'commander'
import { levelOfVerbosity } from '../../framework/contract/log.ts'
import { featureGatesOption } from './featuregates.ts'
import { addRule } from './rules.ts'
import { portNumber, textList, truth } from './values.ts'
import { verbosityOption } from './verbosity.ts'

/** Flags of kcp's servers with another name than those of Oriel. */
export interface KcpNames {
  readonly rootDirectory?: string
  readonly securePort?: number
  /** Verbosity of klog. */
  readonly v?: number
}

/** Flags of kcp's `start` with another name or meaning than those of `oriel start` (kcp `pkg/server/options`). */
export interface KcpFlags extends KcpNames {
  readonly etcdServers?: string
  readonly enableHomeWorkspaces: boolean
}

/** Adds the flags that all servers of kcp have to a command. */
export const addKcpNames = (command: Command): Command =>
  command
    .optionsGroup('Names of kcp:')
    .addOption(
      new Option('--root-directory <path>', 'the same as --data-directory').conflicts('dataDirectory'),
    )
    .addOption(
      new Option('--secure-port <number>', 'the same as --port').argParser(portNumber).conflicts('port'),
    )
    .addOption(verbosityOption().helpGroup('Names of kcp:').conflicts('logLevel'))
    .addOption(featureGatesOption())

/** Adds the flag of the etcd that kcp's servers use. */
export const addEtcdServers = (command: Command): Command =>
  command.addOption(
    new Option('--etcd-servers <urls>', 'addresses of etcd, the same as --store').conflicts('store'),
  )

/** Adds the flags to a command. */
export function addKcpFlags(command: Command): Command {
  addEtcdServers(addKcpNames(command))
    .option(
      '--kubeconfig-path <path>',
      'kubeconfig of the administrators that is written at the start (default: admin.kubeconfig in the data directory)',
    )
    .option('--enable-home-workspaces <boolean>', 'let users create home workspaces', truth, true)
    .option(
      '--home-workspaces-home-creator-groups <names>',
      'groups whose users may create home workspaces, comma-separated (default: system:authenticated)',
      textList,
    )
  addRule(command, ({ has, value }) =>
    has(creators) && value('--enable-home-workspaces') === false
      ? `${creators} has no effect with --enable-home-workspaces=false: remove one of them.`
      : undefined,
  )
  return addRefusedFlags(refusedByStart, command)
}

const creators = '--home-workspaces-home-creator-groups'

const signing = 'Tokens are signed by this process: give --service-account-signing-key-file.'
const unencrypted = 'Objects are stored without encryption: encrypt the file system of --store.'

/** Flags that every server with a store refuses, because it does not do what they ask for; and what to do instead. */
export const refusedByStores: Readonly<Record<string, string>> = {
  'encryption-provider-config': unencrypted,
  'etcd-servers-overrides': 'All objects are in one store.',
}

const refusedByStart: Readonly<Record<string, string>> = {
  ...refusedByStores,
  'service-account-signing-endpoint': signing,
}

/** Adds flags that end the command with the sentence that says what to do instead, hidden from `--help`. */
export function addRefusedFlags(refused: Readonly<Record<string, string>>, command: Command): Command {
  for (const [name, instead] of Object.entries(refused))
    command.addOption(new Option(`--${name} <value>`).argParser(refusal(instead)).hideHelp())
  return command
}

const refusal = (instead: string) => (): never => {
  throw new InvalidArgumentError(instead)
}

/** The flags with the values of the names that all servers of kcp have. */
export function withKcpNames<T extends KcpNames>(flags: T): T {
  const { rootDirectory, securePort, v } = flags
  return {
    ...flags,
    ...(rootDirectory !== undefined && { dataDirectory: rootDirectory }),
    ...(securePort !== undefined && { port: securePort }),
    ...(v !== undefined && { logLevel: levelOfVerbosity(v) }),
  }
}

/** The flags with the store of `--etcd-servers`. */
export const withEtcdServers = <T extends Pick<KcpFlags, 'etcdServers'>>(flags: T): T => ({
  ...flags,
  ...(flags.etcdServers !== undefined && flags.etcdServers !== 'embedded' && { store: flags.etcdServers }),
})

/** The flags of `oriel start` with the values of kcp's names. */
export const withKcpFlags = <T extends KcpFlags>(flags: T): T => ({
  ...withEtcdServers(withKcpNames(flags)),
  ...(!flags.enableHomeWorkspaces && { homeWorkspacesHomeCreatorGroups: [] }),
})
