import type { DiscoveredGroup, DiscoveredResource } from '../../framework/discovery/discovered.ts'

/**
 * The path of a resource: `deployments`, `deployment`, `deploy`, `deployments.apps` or `deployments.v1.apps`. The first group
 * that has it is used, in its preferred version. undefined if there is none.
 */
export function pathOf(
  groups: readonly DiscoveredGroup[],
  text: string,
  namespace: string | undefined,
): string | undefined {
  for (const { metadata: { name: group = '' } = {}, versions = [] } of groups)
    for (const { version, resources = [] } of versions) {
      const found = resources.find(each => namesOf(each).some(name => isName(text, { name, group, version })))
      if (found === undefined) continue
      const within = namespace === undefined || found.scope !== 'Namespaced' ? '' : `/namespaces/${namespace}`
      return `${group === '' ? '/api' : `/apis/${group}`}/${version}${within}/${found.resource}`
    }
  return undefined
}

const namesOf = ({
  resource,
  singularResource = '',
  shortNames = [],
}: DiscoveredResource): readonly string[] =>
  [resource, singularResource, ...shortNames].filter(name => name !== '')

const isName = (
  text: string,
  { name, group, version }: { readonly name: string; readonly group: string; readonly version: string },
): boolean => text === name || text === `${name}.${group}` || text === `${name}.${version}.${group}`
