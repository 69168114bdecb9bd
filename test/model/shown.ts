import { claimedConfigMaps } from './content.ts'
import { exportNamed, isOwn, publicationNamed, type ViewRequest, waitingFor } from './viewsoracle.ts'
import type { World } from './world.ts'

/** The objects that a request can see, as `cluster/namespace/name`; undefined for views without a selection. */
export function shownTo(world: World, request: ViewRequest): readonly string[] | undefined {
  const { resource, cluster } = request.action
  if (resource === undefined || resource.subresource !== '') return undefined
  const all = objectsOf(world, request, resource.resource)
  const inNamespace = (each: Place): boolean =>
    resource.namespace === '' || each.namespace === resource.namespace
  return all
    ?.filter(each => (cluster === '*' || each.cluster === cluster) && inNamespace(each))
    .map(each => `${each.cluster}/${each.namespace ?? ''}/${each.name}`)
}

interface Place {
  readonly cluster: string
  readonly namespace?: string
  readonly name: string
}

function objectsOf(world: World, request: ViewRequest, plural: string): readonly Place[] | undefined {
  switch (`${request.view} ${plural}`) {
    case ' configmaps':
      return world.configMaps
    case 'apiexport configmaps':
      return claimed(world, request.identifier, request.action.cluster)
    case 'replication regions':
      return published(world, request)
    case 'workspaces workspaces':
      return world.tree.workspaces.filter(child => isOwn(world, request.user, child))
    case 'mounts kubeclusters':
      return world.tree.kubeClusters
    case 'initializingworkspaces logicalclusters':
      return waitingFor(world, 'initializer', request.identifier).map(place)
    case 'terminatingworkspaces logicalclusters':
      return waitingFor(world, 'terminator', request.identifier).map(place)
    case 'initializingworkspaces configmaps':
    case 'terminatingworkspaces configmaps':
      return request.action.cluster === '*' ? undefined : world.configMaps
    default:
      return undefined
  }
}

const place = (cluster: string): Place => ({ cluster, name: 'cluster' })

/** undefined: the view does not serve them. */
function claimed(world: World, identifier: string, scope: string): readonly Place[] | undefined {
  const of = exportNamed(world, identifier)
  const isServed = of?.claims.some(({ resource }) => resource === 'configmaps') ?? false
  return of && isServed ? claimedConfigMaps(world, of, scope) : undefined
}

/** The provider's objects, in the consumer. */
function published(world: World, { identifier, action }: ViewRequest): readonly Place[] | undefined {
  const found = publicationNamed(world, identifier)
  const { cluster } = action
  if (found === undefined || cluster === '*') return undefined
  const regions = found.regions.filter(({ tier }) => found.tier === undefined || tier === found.tier)
  return regions.map(({ name }) => ({ cluster, name }))
}
