import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  refusedName,
} from '../../../framework/contract/admission.ts'
import { type About, forbidden, notFound, type StatusError } from '../../../framework/meta/errors.ts'
import type { KubeObject, ObjectKey } from '../../../framework/meta/object.ts'
import { loopback } from '../../../framework/request/user.ts'
import type { WatchCache } from '../../cache/contract.ts'

/** The current namespace of a logical cluster; undefined when it does not exist. */
export type NamespaceLookup = (cluster: string, name: string) => KubeObject | undefined

const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

/** Finds namespaces in the watch cache. */
export const namespacesIn = (cache: WatchCache): NamespaceLookup => {
  const namespaces = cache.resource('', 'namespaces', '-')
  return (cluster: string, name: string) => namespaces.get({ cluster, namespace: '', name })?.object
}

/**
 * `NamespaceLifecycle` (rules.md 2.54 to 2.56): refuses creations in missing and terminating namespaces and the deletion
 * of three namespaces. Creations are checked before validation, so that a missing namespace is reported before an
 * invalid object.
 */
export const namespaceLifecycle = (namespaceOf: NamespaceLookup): AdmissionPlugin => ({
  name: 'NamespaceLifecycle',
  handles: { operations: ['CREATE', 'DELETE'] },
  mutate(_ctx, request) {
    if (request.operation === 'CREATE') checkNamespace(namespaceOf, request)
    return request.object
  },
  validate({ actAs }, request) {
    // The server deletes them when their logical cluster is deleted.
    if (request.operation === 'DELETE' && actAs !== loopback) refuseImmortal(request)
  },
})

function refuseImmortal({ group, resource, key }: AdmissionAttributes): void {
  if (group !== '' || resource !== 'namespaces' || !immortal.has(key.name)) return
  throw forbidden({ group, resource, name: key.name }, 'this namespace may not be deleted')
}

function checkNamespace(namespaceOf: NamespaceLookup, request: AdmissionAttributes): void {
  const { group, resource, key } = request
  const problem = namespaceProblems(namespaceOf)({ group, resource, name: refusedName(request) }, key)
  if (problem !== undefined) throw problem
}

/** Why a new object cannot be in its namespace. */
export const namespaceProblems =
  (namespaceOf: NamespaceLookup) =>
  (about: About, { cluster, namespace: name }: ObjectKey): StatusError | undefined => {
    if (name === '') return undefined
    const namespace = namespaceOf(cluster, name)
    if (namespace === undefined) return notFound({ group: '', resource: 'namespaces', name })
    if (namespace.metadata.deletionTimestamp === undefined) return undefined
    return forbidden(
      about,
      `unable to create new content in namespace ${name} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${name} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    )
  }
