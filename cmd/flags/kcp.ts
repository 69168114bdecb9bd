import { type Command, InvalidArgumentError, Option } from 'commander'
import { levelOfVerbosity } from '../../framework/contract/log.ts'
import { StartError } from '../files/starterror.ts'
import { portNumber, textList, truth } from './values.ts'
import { verbosityOption } from './verbosity.ts'

/** Flags of kcp's `start` with another name or meaning than those of `oriel start` (kcp `pkg/server/options`). */
export interface KcpFlags {
  readonly rootDirectory?: string
  readonly securePort?: number
  readonly etcdServers?: string
  /** Verbosity of klog. */
  readonly v?: number
  readonly enableHomeWorkspaces: boolean
}

/** Adds the flags to a command. */
export function addKcpFlags(command: Command): Command {
  command
    .optionsGroup('Names of kcp:')
    .addOption(
      new Option('--root-directory <path>', 'the same as --data-directory').conflicts('dataDirectory'),
    )
    .addOption(
      new Option('--secure-port <number>', 'the same as --port').argParser(portNumber).conflicts('port'),
    )
    .addOption(
      new Option('--etcd-servers <urls>', 'addresses of etcd, the same as --store').conflicts('store'),
    )
    .addOption(verbosityOption().helpGroup('Names of kcp:').conflicts('logLevel'))
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
    .addOption(new Option('--feature-gates <gates>').argParser(featureGates).hideHelp())
  for (const [name, instead] of Object.entries(refused))
    command.addOption(new Option(`--${name} <value>`).argParser(refusal(instead)).hideHelp())
  return command
}

;('The serving certificate is apiserver.crt with apiserver.key and ca.crt in the data directory')
const signing = 'Tokens are signed with sa.key in the data directory: replace this file.'
const unencrypted = 'Objects are stored without encryption: encrypt the file system of --store.'

/** Flags that would promise what is not so, and what to do instead. */
const refused: Readonly<Record<string, string>> = {
  'encryption-provider-config': unencrypted,
  'etcd-servers-overrides': 'All objects are in one store.',
  'service-account-private-key-file': signing,
  'service-account-signing-endpoint': signing,
  'service-account-signing-key-file': signing,
}

const refusal = (instead: string) => (): never => {
  throw new InvalidArgumentError(instead)
}

/** Checks the form only: kcp also takes the gates of its release of Kubernetes, and none of them has an effect. */
function featureGates(text: string): string {
  for (const part of textList(text))
    if (!/^[A-Z]\w*=(true|false)$/.test(part))
      throw new InvalidArgumentError('Give feature gates such as WorkspaceMounts=true, comma-separated.')
  return text
}

/** The flags with the values of kcp's names. */
export function withKcpFlags<T extends KcpFlags>(flags: T): T {
  const { rootDirectory, securePort, etcdServers, v } = flags
  if (rootDirectory === '')
    throw new StartError('--root-directory must not be empty: certificates are stored there.')
  return {
    ...flags,
    ...(rootDirectory !== undefined && { dataDirectory: rootDirectory }),
    ...(securePort !== undefined && { port: securePort }),
    ...(etcdServers !== undefined && etcdServers !== 'embedded' && { store: etcdServers }),
    ...(v !== undefined && { logLevel: levelOfVerbosity(v) }),
    ...(!flags.enableHomeWorkspaces && { homeWorkspacesHomeCreatorGroups: [] }),
  }
}
