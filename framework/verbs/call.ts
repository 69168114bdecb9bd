import type { ApiResource } from '../contract/apis.ts'
import type { RequestContext } from '../contract/context.ts'
import type { Served } from '../contract/served.ts'
import type { Admission, AdmissionRequest } from '../contract/workspace.ts'
import { badRequest, methodNotAllowed, notServed } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { ResourceRequest } from '../request/requestinfo.ts'
import type { VerbRequest } from '../request/response.ts'

/** What the view around a resource says. */
export interface Surroundings {
  /** In order; run before the storage's own. */
  readonly admission: readonly Admission[]
  /** The same resource in another version; undefined when that is not served. */
  atVersion(version: string): ApiResource | undefined
  /** Throws 403 unless the caller may also create what turns out to be missing (chapter 40, rule 5.52). */
  mayCreate(): Promise<void>
}

/** Everything a verb works with. */
export interface Call {
  readonly around: Surroundings
  readonly ctx: RequestContext
  readonly info: ResourceRequest
  readonly served: Served
  readonly request: VerbRequest
}

/** The object that the path names. Throws 400 for `*`, 404 and 405 for paths that name no object of this resource. */
export function keyOf(call: Call): ObjectKey {
  const { ctx, info, served } = call
  checkScope(call)
  if (info.name === '') {
    throw served.resource.custom ? badRequest('name must be provided') : methodNotAllowed()
  }
  return { cluster: ctx.cluster, namespace: namespaceOf(call), name: info.name }
}

/** Reads may span clusters and namespaces; everything else happens in one of each (chapter 40, rules 1.14, 6.18). */
export function checkScope(call: Call): void {
  const { ctx, info, served } = call
  const { namespaced, custom } = served.resource
  const spans = info.verb === 'list' || info.verb === 'watch'
  if (!namespaced && info.namespace !== '' && !isNamespaceItself(call)) throw notServed()
  if (namespaced && info.namespace === '' && !spans) {
    const onCollection = info.verb === 'create' || info.verb === 'deletecollection'
    throw onCollection && !custom ? methodNotAllowed() : notServed()
  }
  if (ctx.cluster === '*' && !spans) {
    throw badRequest(`${info.verb} needs one logical cluster, not "*"`)
  }
}

/** `/api/v1/namespaces/foo` has both a namespace and a name (chapter 40, rule 1.6). */
const isNamespaceItself = ({ info }: Call): boolean =>
  info.group === '' && info.resource === 'namespaces' && info.namespace === info.name

/** '' for cluster-scoped kinds. */
export const namespaceOf = ({ info, served }: Call): string =>
  served.resource.namespaced ? info.namespace : ''

/** Whether metadata in the body is about the object in the path; fills in the namespace (chapter 40, rules 2.43, 2.44). */
export function inNamespace(object: KubeObject, call: Call): KubeObject {
  const namespace = namespaceOf(call)
  const own = object.metadata.namespace ?? ''
  if (own === namespace) return object
  if (namespace !== '' && own !== '') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const { namespace: _, ...metadata } = object.metadata
  return { ...object, metadata: namespace === '' ? metadata : { ...metadata, namespace } }
}

/** Throws 400 unless the object has the name in the path. */
export function checkName(object: KubeObject, { name }: ObjectKey): void {
  const own = object.metadata.name ?? ''
  if (own === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (own !== name) {
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`)
  }
}

/** Runs the view's admission: all that change the object, then all that only look. Returns the object to store. */
export async function admit(
  { ctx, around: { admission } }: Call,
  request: AdmissionRequest & { readonly object: KubeObject },
): Promise<KubeObject> {
  let { object } = request
  for (const hook of admission) object = (await hook.mutate?.(ctx, { ...request, object })) ?? object
  for (const hook of admission) await hook.validate?.(ctx, { ...request, object })
  return object
}

/** Runs the view's admission for a deletion. */
export async function admitDeletion(
  { ctx, around: { admission } }: Call,
  old: KubeObject,
  dryRun: boolean,
): Promise<void> {
  for (const hook of admission) await hook.validate?.(ctx, { operation: 'DELETE', old, dryRun })
}
