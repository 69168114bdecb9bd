import type { KubeObject, OwnKind } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** A review that answers and stores nothing: whether the name of a config map follows the rule, and is free in the logical cluster. */
const nameReview: ViewPlugin = (f, { pattern = '^[a-z]+-[a-z]+$' }) =>
  f.defineVirtualWorkspace('namereview', '/services/namereview', ({ informers }) => {
    const configMaps = informers.for({ group: '', version: 'v1', resource: 'configmaps' })
    const byName = configMaps.index(({ key }) => [`${key.cluster}/${key.name}`])
    const rule = new RegExp(String(pattern))
    const nameOf = ({ spec }: KubeObject) => (spec as { readonly name?: unknown } | undefined)?.name
    const missing = { type: 'FieldValueRequired', field: 'spec.name', detail: 'a name to review' } as const
    const kind: OwnKind = {
      group: 'example.com',
      version: 'v1',
      resource: 'namereviews',
      kind: 'NameReview',
      validate: object => (typeof nameOf(object) === 'string' ? [] : [missing]),
    }
    const review = (cluster: string, name: string) => {
      if (!rule.test(name)) return { allowed: false, reason: `the name must match ${rule.source}` }
      const isTaken = byName(`${cluster}/${name}`).length > 0
      return isTaken ? { allowed: false, reason: 'there is a config map of this name' } : { allowed: true }
    }
    const storage = f.createOnly(kind, async ({ cluster }, _key, object) =>
      f.itemOf({ ...object, status: review(cluster, String(nameOf(object))) }, cluster),
    )
    const apis = f.apiSetOf([f.resourceOf(kind, storage, ['create'])])
    return {
      apis: () => apis,
      run: async ready => {
        await configMaps.synced
        ready()
      },
    }
  })

export default nameReview
