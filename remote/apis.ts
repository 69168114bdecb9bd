import { type ApiSet, apiSetOf } from '../framework/contract/apis.ts'
import type { Backend } from '../framework/contract/backend.ts'
import { groupResource } from '../framework/meta/object.ts'
import { isServedEverywhere } from '../kcp/resources.ts'
import {
  apiResourcesOf,
  builtinKinds,
  type KindDefinition,
  kcpKinds,
  restStrategyOf,
  reviewKinds,
} from '../openapi/index.ts'

/** kcp's kinds that every logical cluster serves without an APIBinding. */
const systemKinds = kcpKinds.filter(({ group, names }) => isServedEverywhere(group, names.plural))

/** The API set that every logical cluster serves without APIBindings: Kubernetes' kinds and some of kcp's. */
export function commonApis(storage: Backend['storage']): ApiSet {
  const resources = (definition: KindDefinition, custom: boolean) => {
    const { group, names } = definition
    return apiResourcesOf(definition, {
      storage: (version, subresource) =>
        storage({ group, version, resource: names.plural, ...(subresource && { subresource }) }),
      custom,
      ...(custom ? {} : restStrategyOf(groupResource(group, names.plural))),
      ...(reviewKinds.includes(definition) ? { verbs: ['create'] } : {}),
    })
  }
  return apiSetOf([
    ...builtinKinds.flatMap(definition => resources(definition, false)),
    ...systemKinds.flatMap(definition => resources(definition, true)),
  ])
}
