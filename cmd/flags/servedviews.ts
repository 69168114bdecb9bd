/** The views that only `oriel start` serves, and why, by name. */
export const onlyOfStart: Readonly<Record<string, string>> = {
  cache: 'the shard is the cache server',
  mounts: 'connections to other clusters, and their kubeconfigs, belong to the server of the workspaces',
  query: 'queries read objects of all kinds from memory',
  views: 'a View is compiled with the APIs of its workspace, which only its shard has',
}

/** The other views, which `oriel virtual-workspaces` serves, too. */
export const everywhere = [
  ...['apiexport', 'apiresourceschema', 'initializingworkspaces', 'terminatingworkspaces'],
  ...['migratingworkspaces', 'replication', 'workspaces', 'namespaces'],
] as const

/** The views of `oriel virtual-workspaces`, for people. */
export const servedText = `Serves ${listed(everywhere)}. Not ${Object.entries(onlyOfStart)
  .map(([name, why]) => `${name} (${why})`)
  .join(', ')}: oriel start serves them.`

/** What clients read that ask `oriel virtual-workspaces` for one of them. */
export const sentenceFor: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(onlyOfStart).map(([name, why]) => [
    name,
    `ask the server of the workspaces, because ${why}`,
  ]),
)

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
