import type { Command } from 'commander'
import { type AuthenticationFlags, addAuthenticationFlags } from './authentication.ts'
import { addIgnoredFlags, ignoredByFrontProxy } from './ignored.ts'
import { addKcpNames, type KcpNames } from './kcp.ts'
import { addLimitFlags, type LimitFlags } from './limits.ts'
import { addMountFlags, type MountFlags } from './mounts.ts'
import { addCertificateFlags, addServingFlags, type CertificateFlags, type ServingFlags } from './serving.ts'
import { addTracingFlags, type TracingFlags } from './tracing.ts'
import { commonOption, filledList, httpsUrl, textList } from './values.ts'

/** The flags of `oriel front-proxy`, checked. */
export interface FrontProxyFlags
  extends ServingFlags,
    CertificateFlags,
    KcpNames,
    MountFlags,
    AuthenticationFlags,
    LimitFlags,
    TracingFlags {
  readonly mappingFile: string
  readonly rootKubeconfig: string
  readonly shardsKubeconfig: string
  readonly dataDirectory: string
  readonly externalUrl?: string
  readonly authenticationPassOnGroups?: readonly string[]
  readonly authenticationDropGroups?: readonly string[]
}

const required = (flags: string, description: string) =>
  commonOption(flags, `${description} (required)`).makeOptionMandatory()

/** Adds the flags to a command, with all of kcp-front-proxy (kcp `pkg/proxy/options`). */
export function addFrontProxyFlags(command: Command): Command {
  command
    .description('Serve the workspaces of several shards under one address.')
    .addOption(required('--mapping-file <path>', 'YAML file that maps URL paths to backends'))
    .addOption(
      required('--root-kubeconfig <path>', 'kubeconfig of the root shard, where shards are registered'),
    )
    .addOption(
      required(
        '--shards-kubeconfig <path>',
        'kubeconfig with credentials that may read everything on all shards',
      ),
    )
    .addOption(
      commonOption('--data-directory <path>', 'directory of the serving certificate').default(
        '.oriel-front-proxy',
      ),
    )
  addServingFlags(command, 8443).addOption(
    commonOption(
      '--external-url <url>',
      'URL prefix of workspaces (default: external host name and port of this proxy)',
    ).argParser(httpsUrl),
  )
  addLimitFlags(addMountFlags(addGroupFlags(addAuthenticationFlags(addCertificateFlags(command)))))
  return addIgnoredFlags(ignoredByFrontProxy, addKcpNames(addTracingFlags(command)))
}

const addGroupFlags = (command: Command): Command =>
  command
    .optionsGroup('Groups passed to shards:')
    .option(
      '--authentication-pass-on-groups <groups>',
      'groups that are passed on to shards, comma-separated (default: all)',
      filledList,
    )
    .option(
      '--authentication-drop-groups <groups>',
      'groups that are never passed on to shards, comma-separated',
      textList,
    )
