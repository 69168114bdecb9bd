import { notFound, type ResourceStorage, readOnly } from '../../framework/index.ts'
import { apisGroup } from '../../kcp/index.ts'
import type { BoundSchemas } from './bound.ts'
import { isSelected } from './selection.ts'
import type { States } from './versions.ts'
import { watchSchemas } from './watch.ts'

const schemas = { group: apisGroup, resource: 'apiresourceschemas' }

/** A consumer's schemas, wherever they lie. */
export const schemaStorage = (bound: BoundSchemas, states: States): ResourceStorage =>
  readOnly(schemas, {
    async get({ cluster }, { name }) {
      const found = bound.of(cluster).find(({ key }) => key.name === name)
      if (found === undefined) throw notFound({ ...schemas, name })
      return found
    },
    /** All at once, whatever the limit: nobody binds that many. */
    async *list({ cluster }, query) {
      const { items, version } = states.of(cluster)
      yield items.filter(item => isSelected(item, query))
      return { resourceVersion: String(version) }
    },
    watch: (ctx, query) => watchSchemas(bound, states, ctx, query),
  })
