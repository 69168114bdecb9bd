import assert from 'node:assert/strict'
import { Command } from 'commander'
import { doctorCommand } from '../doctor/command.ts'
import { explainCommand } from '../explain/command.ts'
import { storeCommand } from '../store/command.ts'
import { userCommand } from '../users/command.ts'
import { queryCommand } from '../viewtools/command.ts'
import { addCacheServerFlags } from './cacheserver.ts'
import { addFrontProxyFlags } from './frontproxy.ts'
import { refuseEmptyFlags } from './rules.ts'
import { addStartFlags } from './start.ts'
import { addVirtualWorkspacesFlags } from './virtualworkspaces.ts'

/** The first line that the program prints about a command line; undefined when it accepts it. */
async function refusalOf(line: string): Promise<string | undefined> {
  const program = new Command().hook('preAction', (_program, command) => refuseEmptyFlags(command))
  const add = (name: string) => program.command(name)
  addStartFlags(add('start')).action(() => undefined)
  addFrontProxyFlags(add('front-proxy')).action(() => undefined)
  addCacheServerFlags(add('cache-server')).action(() => undefined)
  addVirtualWorkspacesFlags(add('virtual-workspaces')).action(() => undefined)
  for (const command of [doctorCommand(add('doctor')), explainCommand(add('explain'))])
    command.action(() => undefined)
  queryCommand(add('query')).action(() => undefined)
  for (const command of storeCommand(add('store')).commands) command.action(() => undefined)
  for (const command of userCommand(add('user')).commands) command.action(() => undefined)
  const all = program.commands.flatMap(command => [command, ...command.commands])
  for (const command of all) command.exitOverride().configureOutput({ writeErr: () => undefined })
  const words = line.split(' ').map(word => word.replace(/^''$/, ''))
  try {
    await program.parseAsync(words, { from: 'user' })
    return undefined
  } catch (error) {
    return (error as Error).message.replace(
      /^error: option '(\S+)[^']*' argument '[^']*' is invalid\. /,
      '$1: ',
    )
  }
}

const proxy = 'front-proxy --mapping-file m --root-kubeconfig r --shards-kubeconfig s'
const cache = 'cache-server --client-ca-file c'
const views = 'virtual-workspaces --kubeconfig k'
const pair = (first: string, second: string): string =>
  `${first} and ${second} must be specified together: add the missing one.`
const alone = (flag: string, needed: string): string =>
  `${flag} has no effect without ${needed}: add ${needed}, or remove ${flag}.`
const either = (flag: string, needed: string): string =>
  `${flag} has no effect without ${needed}: add one of them, or remove ${flag}.`
const empty = (flag: string): string => `${flag} is empty: give it a value, or remove ${flag}.`

describe('a command line whose flags do not go together', () => {
  const headers = '--requestheader-client-ca-file'
  const tls = pair('--tls-cert-file', '--tls-private-key-file')
  const etcd = (flag: string): string =>
    `${flag} is for a store in etcd, of which there is none: add its address, such as etcd://host:2379, or remove ${flag}.`
  const offDisk = (store: string): string =>
    `--store-min-free has no effect with ${store}, which is not on a disk: remove --store-min-free.`
  const onOutput = (flag: string): string =>
    `${flag} has no effect with --audit-log-path -, which is standard output: remove one of them.`
  const table: readonly (readonly [line: string, refusal: string | undefined])[] = [
    ...['start', proxy, views].flatMap(command => [
      [
        `${command} --requestheader-allowed-names a`,
        alone('--requestheader-allowed-names', headers),
      ] as const,
      [`${command} --requestheader-uid-headers a`, alone('--requestheader-uid-headers', headers)] as const,
      [`${command} --requestheader-allowed-names a --requestheader-client-ca-file b`, undefined] as const,
    ]),
    ...['start', proxy, cache, views].flatMap(command => [
      [`${command} --tls-cert-file a`, tls] as const,
      [`${command} --tls-private-key-file a`, tls] as const,
      [`${command} --tls-private-key-file a --tls-cert-file b`, undefined] as const,
    ]),
    ...[
      'start --store etcd://a:1',
      `${cache} --etcd-servers http://a:1`,
      'store copy --from a --to etcd://a:1',
    ].flatMap(command => [
      [`${command} --etcd-certfile a`, pair('--etcd-certfile', '--etcd-keyfile')] as const,
      [`${command} --etcd-user a`, pair('--etcd-user', '--etcd-password-file')] as const,
      [`${command} --etcd-prefix /a --etcd-user a --etcd-password-file b`, undefined] as const,
    ]),
    ['doctor --client-cert-file a', pair('--client-cert-file', '--client-key-file')],
    ['start --oidc-client-id a', pair('--oidc-issuer-url', '--oidc-client-id')],
    ['start --oidc-groups-claim a', alone('--oidc-groups-claim', '--oidc-issuer-url')],
    ['start --root-ca-file a', alone('--root-ca-file', '--tls-cert-file')],
    [
      'start --shard-client-cert-file a --logical-cluster-admin-kubeconfig b',
      pair('--shard-client-cert-file', '--shard-client-key-file'),
    ],
    [
      'start --shard-client-cert-file a --shard-client-key-file b',
      either(
        '--shard-client-cert-file',
        '--logical-cluster-admin-kubeconfig or --root-shard-kubeconfig-file',
      ),
    ],
    [
      'start --external-logical-cluster-admin-kubeconfig a',
      either(
        '--external-logical-cluster-admin-kubeconfig',
        '--logical-cluster-admin-kubeconfig or --root-shard-kubeconfig-file',
      ),
    ],
    [
      'start --authorization-webhook-version v1',
      alone('--authorization-webhook-version', '--authorization-webhook-config-file'),
    ],
    [
      'start --authentication-token-webhook-cache-ttl 1m',
      alone('--authentication-token-webhook-cache-ttl', '--authentication-token-webhook-config-file'),
    ],
    [
      'start --trust-system-identities',
      either('--trust-system-identities', '--authentication-config or --oidc-issuer-url'),
    ],
    ['start --audit-log-maxage 3', alone('--audit-log-maxage', '--audit-log-path')],
    ['start --audit-log-path - --audit-log-maxsize 3', onOutput('--audit-log-maxsize')],
    ['start --audit-log-maxbackup 3 --audit-log-path -', onOutput('--audit-log-maxbackup')],
    [`${views} --audit-log-path - --audit-log-maxage 3`, onOutput('--audit-log-maxage')],
    ['start --audit-log-path - --audit-log-truncate-enabled', undefined],
    ['start --audit-log-path a --audit-log-maxage 3', undefined],
    ['start --audit-log-truncate-enabled', alone('--audit-log-truncate-enabled', '--audit-log-path')],
    ['start --audit-log-truncate-enabled=false', undefined],
    [
      'start --audit-log-path a --audit-log-truncate-max-event-size 3',
      alone('--audit-log-truncate-max-event-size', '--audit-log-truncate-enabled'),
    ],
    [
      'start --audit-webhook-truncate-max-batch-size 3',
      alone('--audit-webhook-truncate-max-batch-size', '--audit-webhook-config-file'),
    ],
    ['start --watch', either('--watch', '--view or --views')],
    [
      'start --authorization-order RBAC --authorization-webhook-config-file a',
      '--authorization-webhook-config-file has no effect, because --authorization-order has no Webhook: add Webhook to it, or remove the file.',
    ],
    ['start --authorization-order RBAC,Webhook --authorization-webhook-config-file a', undefined],
    [
      'start --enable-home-workspaces false --home-workspaces-home-creator-groups a',
      '--home-workspaces-home-creator-groups has no effect with --enable-home-workspaces=false: remove one of them.',
    ],
    ['start --etcd-cafile a', etcd('--etcd-cafile')],
    ['start --etcd-prefix /a --store memory:', etcd('--etcd-prefix')],
    ['start --etcd-shared-keys false --etcd-servers embedded', undefined],
    ['start --store memory: --store-min-free 1Gi', offDisk('--store memory:')],
    ['start --store-min-free 1Gi --store etcd://a:1', offDisk('--store etcd://a:1')],
    ['start --store-min-free 1Gi --etcd-servers http://a:1', offDisk('--etcd-servers http://a:1')],
    ['start --store memory: --store-min-free 0', undefined],
    ['start --store a --store-min-free 1Gi', undefined],
    ['start --store-min-free 1Gi --etcd-servers embedded', undefined],
    [`${cache} --etcd-compaction-interval 1m`, etcd('--etcd-compaction-interval')],
    ['store copy --from a --to b --etcd-user a --etcd-password-file b', etcd('--etcd-user')],
    [
      `${views} --cache-kubeconfig a --cache-server-kubeconfig-file b`,
      "error: option '--cache-server-kubeconfig-file <path>' cannot be used with option '--cache-kubeconfig <path>'",
    ],
    ['explain get pods --as-group a', alone('--as-group', '--as')],
    [
      'explain get pods -n a -A',
      "error: option '-A, --all-namespaces' cannot be used with option '-n, --namespace <namespace>'",
    ],
  ]
  for (const [line, refusal] of table)
    it(`${line}: is ${refusal === undefined ? 'accepted' : 'refused'}`, async () => {
      assert.equal(await refusalOf(line), refusal)
    })
})

describe('a command line with a value that has no meaning', () => {
  const oneEntry = 'Give at least one entry, or remove the flag.'
  const table: readonly (readonly [line: string, refusal: string | undefined])[] = [
    ...['--tls-cert-file', '--store', '--data-directory', '--view', '--oidc-username-prefix'].map(
      flag => [`start ${flag} ''`, empty(flag)] as const,
    ),
    [`${views} --kubeconfig ''`, empty('--kubeconfig')],
    ["doctor --context ''", empty('--context')],
    ["start --authorization-order ''", `--authorization-order: ${oneEntry}`],
    ["start --api-audiences ''", `--api-audiences: ${oneEntry}`],
    ["start --requestheader-allowed-names ''", `--requestheader-allowed-names: ${oneEntry}`],
    ["start --authorization-always-allow-paths ''", undefined],
    [`${proxy} --authentication-drop-groups ''`, undefined],
    [`${proxy} --authentication-drop-groups a,,b`, '--authentication-drop-groups: Remove the empty entry.'],
    ['start --authorization-order RBAC,RBAC', '--authorization-order: Remove the second "RBAC".'],
    ['start --oidc-signing-algs RS256,RS256', '--oidc-signing-algs: Remove the second "RS256".'],
    [
      'start --service-account-issuer a --service-account-issuer a',
      '--service-account-issuer: Remove the second "a".',
    ],
    [
      `${proxy} --external-url here`,
      '--external-url: Give an https URL without credentials, query and fragment.',
    ],
    ['start --event-ttl=-1m', '--event-ttl: Give a duration such as 5m or 30s.'],
    [
      'start --etcd-compaction-interval 1000h --store etcd://a:1',
      '--etcd-compaction-interval: Give a duration of at most 24 days (576h).',
    ],
    ['user add --expires 0 a', '--expires: Give a duration that is greater than 0.'],
    [
      'start --audit-log-path a --audit-log-truncate-enabled --audit-log-truncate-max-event-size 0',
      '--audit-log-truncate-max-event-size: Give a whole number, 1 or more.',
    ],
    [
      'start --audit-webhook-config-file a --audit-webhook-truncate-max-batch-size 5',
      '--audit-webhook-truncate-max-batch-size 5 is smaller than --audit-webhook-truncate-max-event-size 102400: make it as large.',
    ],
    ["start -v ''", '-v,: Give a whole number, 0 or more.'],
    ['query x pods --limit some', '--limit: Give a whole number, 1 or more.'],
    ['start --replicas some', '--replicas: Give a whole number from 1 to 64.'],
    ['start --shards 17', '--shards: Give a whole number from 1 to 16.'],
    ['query x pods --limit 0', '--limit: Give a whole number, 1 or more.'],
  ]
  for (const [line, refusal] of table)
    it(`${line}: is ${refusal === undefined ? 'accepted' : 'refused'}`, async () => {
      assert.equal(await refusalOf(line), refusal)
    })
})
