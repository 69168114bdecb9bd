import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Command, Option } from 'commander'
import type { ExplainOptions } from './explained.ts'

/** kubectl's: the first of `$KUBECONFIG`, else the one in the home directory. */
const defaultKubeconfig = (): string =>
  process.env.KUBECONFIG?.split(delimiter)[0] || join(homedir(), '.kube/config')

/** `oriel explain`. */
export const explainCommand = (command: Command): Command =>
  command
    .description('say why somebody may or may not do something, and what would let him')
    .argument('<verb>', 'get, list, create, …; access for the workspace itself, with the path /')
    .argument('<resource>', 'configmaps, deployments.apps, deploy, configmaps/settings; or a path: /metrics')
    .argument('[name]', 'of one object')
    .option('--as <user>', 'whose rights; your own otherwise')
    .option('--as-group <group...>', 'groups of that user besides system:authenticated')
    .option('-n, --namespace <namespace>', 'of the objects (default: "default")')
    .option('-A, --all-namespaces', 'objects of all namespaces')
    .option('--subresource <name>', 'such as status')
    .option('--kubeconfig <path>', 'the server and whom you are to it', defaultKubeconfig())
    .option('--context <name>', 'of the kubeconfig')
    .option('-s, --server <url>', 'a workspace’s URL instead of that of the context')
    .addOption(
      new Option('-o, --output <format>', 'yaml: what to apply')
        .choices(['text', 'yaml', 'json'])
        .default('text'),
    )
    .action(async (verb: string, resource: string, name: string | undefined, options: ExplainOptions) => {
      const { explain } = await import('./explain.ts')
      process.exitCode = await explain({ verb, resource, ...(name !== undefined && { name }) }, options)
    })
