import { type Command, Option } from 'commander'
import { connectionFlags } from '../flags/connection.ts'
import type { ExplainOptions } from './explained.ts'

/** `oriel explain`. */
export const explainCommand = (command: Command): Command =>
  connectionFlags(command)
    .description('say why somebody may or may not do something, and what would let him')
    .argument('<verb>', 'get, list, create, …; access for the workspace itself, with the path /')
    .argument('<resource>', 'configmaps, deployments.apps, deploy, configmaps/settings; or a path: /metrics')
    .argument('[name]', 'of one object')
    .option('--as <user>', 'whose rights; your own otherwise')
    .option('--as-group <group...>', 'groups of that user besides system:authenticated')
    .option('-n, --namespace <namespace>', 'of the objects (default: "default")')
    .option('-A, --all-namespaces', 'objects of all namespaces')
    .option('--subresource <name>', 'such as status')
    .addOption(
      new Option('-o, --output <format>', 'yaml: what to apply')
        .choices(['text', 'yaml', 'json'])
        .default('text'),
    )
    .action(async (verb: string, resource: string, name: string | undefined, options: ExplainOptions) => {
      const { explain } = await import('./explain.ts')
      process.exitCode = await explain({ verb, resource, ...(name !== undefined && { name }) }, options)
    })
