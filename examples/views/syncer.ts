import type { KubeObject, Lens } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** The label of a Deployment for a target is `target.workload.example.com/<name>: sync`. */
const label = 'target.workload.example.com/'
const ref = { group: 'apps', version: 'v1', resource: 'deployments' }
const syncTargets = { group: 'workload.example.com', version: 'v1alpha1', resource: 'synctargets' }
const targetOf = ({ metadata }: KubeObject) => ({ target: metadata.name ?? '' })
type Counted = { readonly replicas?: number }
type Status = { readonly targets?: Readonly<Record<string, Counted>> }

/** The replicas of one target: an equal share, and the first targets by name get one more. */
function shareOf(labels: object, { replicas = 1 }: Counted, target: string): number {
  const targets = Object.keys(labels).filter(key => key.startsWith(label))
  const isOneMore = targets.sort().indexOf(label + target) < replicas % targets.length
  return Math.floor(replicas / targets.length) + Number(isOneMore)
}

/** A Deployment as a target sees it: its share of the replicas, its own status, and no label of a target. */
const lensOf = (target: string): Lens => ({
  present: ({ metadata: { managedFields: _, labels: all = {}, ...metadata }, ...object }) => {
    const labels = Object.fromEntries(Object.entries(all).filter(([key]) => !key.startsWith(label)))
    const spec = { ...(object.spec as Counted), replicas: shareOf(all, object.spec as Counted, target) }
    const status = (object.status as Status)?.targets?.[target] ?? {}
    return { ...object, metadata: { ...metadata, labels }, spec, status } as KubeObject
  },
  accept: ({ status = {} }, _current, stored) => {
    const all = { ...(stored?.status as Status)?.targets, [target]: status as Counted }
    const current = Object.entries(all).filter(([name]) => stored?.metadata.labels?.[label + name])
    const targets = Object.fromEntries(current)
    const replicas = Object.values(targets).reduce((sum, each) => sum + (each.replicas ?? 0), 0)
    return { ...stored, status: { replicas, targets } } as unknown as KubeObject
  },
})

/** The view of a syncer: the Deployments of all logical clusters for one target. It writes their status only. */
const syncer: ViewPlugin = f =>
  f.defineVirtualWorkspace('syncer', '/services/syncer/:target', ({ backend }) => {
    const through = (subresource = '') =>
      f.viewOf(backend.storage({ ...ref, subresource }), ({ params: { target = '' } }) => ({
        ...lensOf(target),
        narrow: query => ({
          ...query,
          labels: f.andLabels(query.labels, f.labelEquals(label + target, 'sync')),
        }),
      }))
    const made = f.resourceOf({ ...ref, kind: 'Deployment', namespaced: true }, through())
    const status = { ...made, name: 'status', kind: 'Deployment', storage: through('status') }
    const apis = f.apiSetOf([{ ...made, subresources: [{ ...status, verbs: ['get', 'update', 'patch'] }] }])
    return {
      apis: () => apis,
      authorize: async ({ params: { target }, user }) =>
        user.groups.includes(`syncer:${target}`) ? f.allow('the syncer') : f.deny('not its syncer'),
      actAs: () => f.loopback,
      publisher: f.urlsInStatus(syncTargets, 'virtualWorkspaces', targetOf),
    }
  })

export default syncer
