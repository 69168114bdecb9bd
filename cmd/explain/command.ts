import { type Command, Option } from 'commander'
import { addConnectionFlags } from '../flags/connection.ts'
import { flagsNeed } from '../flags/rules.ts'
import type { ExplainOptions } from './resourcequestion.ts'

/** `oriel explain`. */
export const explainCommand = (command: Command): Command =>
  flagsNeed(addExplainFlags(command), ['--as-group'], '--as').action(
    async (verb: string, resource: string, name: string | undefined, options: ExplainOptions) => {
      const { explain } = await import('./explain.ts')
      process.exitCode = await explain({ verb, resource, ...(name !== undefined && { name }) }, options)
    },
  )

const addExplainFlags = (command: Command): Command =>
  addConnectionFlags(command)
    .description('Explain why a user is allowed or denied an action, and which RBAC objects would allow it.')
    .argument(
      '<verb>',
      'verb of the request: get, list, create, …; "access" with the path / for access to the workspace',
    )
    .argument(
      '<resource>',
      'resource, e.g. configmaps, deployments.apps, deploy or configmaps/settings; or a path, e.g. /metrics',
    )
    .argument('[name]', 'name of the object')
    .option('--as <user>', 'user whose permissions are explained (default: the user of the kubeconfig)')
    .option('--as-group <group...>', 'groups of that user, in addition to system:authenticated')
    .option('-n, --namespace <namespace>', 'namespace of the objects (default: "default")')
    .addOption(
      new Option('-A, --all-namespaces', 'explain a request for all namespaces').conflicts('namespace'),
    )
    .option('--subresource <name>', 'subresource, e.g. status')
    .addOption(
      new Option('-o, --output <format>', 'output format; yaml prints the RBAC objects to apply')
        .choices(['text', 'yaml', 'json'])
        .default('text'),
    )
