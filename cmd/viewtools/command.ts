import { type Command, Option } from 'commander'
import { addConnectionFlags, type ConnectionFlags } from '../flags/connection.ts'
import { positiveCount } from '../flags/values.ts'
import type { QueryCommandOptions } from './query.ts'
import type { ViewsOptions } from './views.ts'

/** `oriel views`. */
export const viewsCommand = (command: Command): Command =>
  addConnectionFlags(command)
    .description('Print the views of a server: their paths, whether they are ready, and their requests.')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .action(async (options: ViewsOptions) => {
      const { printViews } = await import('./views.ts')
      await printViews(options)
    })

/** `oriel watch <url>`. */
export const watchCommand = (command: Command): Command =>
  addConnectionFlags(command)
    .description('Print the objects at a URL, and what changes in them, until Ctrl-C.')
    .argument(
      '<url>',
      'URL of a list, or its path: "/services/team/ops/clusters/*/api/v1/configmaps"; may have selectors',
    )
    .action(async (url: string, options: ConnectionFlags) => {
      const { printChanges } = await import('./watch.ts')
      await printChanges(url, options)
    })

/** `oriel query <where> <resource>`. */
export const queryCommand = (command: Command): Command =>
  addConnectionFlags(command)
    .description(
      'Print the objects that you may list and for which an expression is true, in all workspaces.',
    )
    .argument('<where>', `CEL expression, such as "object.spec.replicas > 3"; '' for all objects`)
    .argument('<resource>', 'resource, such as deployments or deployments.apps')
    .option('--workspace <path>', 'path or logical cluster of one workspace', '*')
    .option('-n, --namespace <name>', 'namespace (default: all)')
    .option('-l, --selector <selector>', 'label selector')
    .option(
      '--order-by <expression>',
      'CEL expression by which objects are ordered, with " desc" at its end for the reverse',
    )
    .option('--limit <number>', 'number of objects (default: all)', positiveCount)
    .option('-w, --watch', 'print what changes, until Ctrl-C')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .action(async (where: string, resource: string, options: QueryCommandOptions) => {
      const { printQuery } = await import('./query.ts')
      await printQuery(where, resource, options)
    })
