import { type Command, Option } from 'commander'
import { addConnectionFlags, type ConnectionFlags } from '../flags/connection.ts'
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
