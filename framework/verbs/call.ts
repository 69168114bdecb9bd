import type { Awaitable } from '../async/awaitable.ts'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { ApiResource, Served } from '../contract/apis.ts'
import type { RequestContext } from '../contract/context.ts'
import type { Item } from '../contract/item.ts'
import { merged } from '../json/json.ts'
import { badRequest, methodNotAllowed, notServed } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { ResourceRequest } from '../request/requestinfo.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import { itemAnswer } from '../responses/answers.ts'
import { inProtobuf, objectForm } from '../responses/forms.ts'
import { negotiate } from '../responses/negotiation.ts'

/** The members of a view that verbs use. */
export interface VerbScope {
  /** In order; run before the storage's own. */
  readonly admission: readonly AdmissionPlugin[]
  /** The same resource in another version; undefined when that is not served. */
  atVersion(version: string): ApiResource | undefined
  /** Throws 403 unless the user may also create the object, which is missing (rules.md 5.52). */
  mayCreate(): Promise<void>
}

/** The input of a verb. */
export interface Call {
  readonly scope: VerbScope
  readonly ctx: RequestContext
  readonly info: ResourceRequest
  readonly served: Served
  readonly request: VerbRequest
}

/**
 * Answers with an object, in the form that the client accepts. Throws 406 and 400 for forms that objects do not have,
 * before the object is read or written.
 */
export function answering({ served, request }: Call): (item: Item, status?: number) => Awaitable<Answer> {
  const how = negotiate(request, 'objects', inProtobuf(served))
  const form = objectForm(served, how, request.query)
  return (item, status) => itemAnswer(item, form, how, status)
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

/** Lists and watches may span clusters and namespaces; other verbs need one of each (rules.md 1.14, 6.18). */
export function checkScope(call: Pick<Call, 'ctx' | 'info' | 'served'>): void {
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

/** `/api/v1/namespaces/foo` has both a namespace and a name (rules.md 1.6). */
const isNamespaceItself = ({ info }: Pick<Call, 'info'>): boolean =>
  info.group === '' && info.resource === 'namespaces' && info.namespace === info.name

/** '' for cluster-scoped kinds. */
export const namespaceOf = ({ info, served }: Call): string =>
  served.resource.namespaced ? info.namespace : ''

/**
 * The object with the namespace of the path. Throws 400 when the body has another namespace (rules.md 2.43, 2.44).
 */
export function inNamespace(object: KubeObject, call: Call): KubeObject {
  const namespace = namespaceOf(call)
  const own = object.metadata.namespace ?? ''
  if (own === namespace) return object
  if (namespace !== '' && own !== '') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const { namespace: _, ...metadata } = object.metadata
  return { ...object, metadata: namespace === '' ? metadata : merged(metadata, { namespace }) }
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
