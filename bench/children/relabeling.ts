import {
  type ApiSet,
  allow,
  annotator,
  apiSetOf,
  defineVirtualWorkspace,
  viewOf,
} from '../../framework/index.ts'
import { apiResourcesOf, definitionOf } from '../../openapi/index.ts'
import { schema } from '../tools/objects.ts'

/** A view that adds one annotation to every widget, as views do that present paths or objects of other clusters. */
export const relabeling = defineVirtualWorkspace(
  'relabeling',
  '/services/relabeling/:identity',
  ({ backend }) => {
    const annotate = annotator({ 'kcp.io/path': 'root:consumer' })
    const sets = new Map<string, ApiSet>()
    const setOf = (identity: string): ApiSet =>
      apiSetOf(
        apiResourcesOf(definitionOf(schema), {
          custom: true,
          storage: version =>
            viewOf(
              backend.storage({ group: 'bench.oriel.dev', version, resource: 'widgets', identity }),
              () => ({ annotate }),
            ),
        }),
      )
    return {
      authorize: async () => allow('it is a benchmark'),
      apis: ({ identity }) => {
        const set = sets.get(identity) ?? setOf(identity)
        sets.set(identity, set)
        return set
      },
    }
  },
)
