// The public surface: at most 95 names, which authors of views and backends use. `docs/reference.md` is made of the
// groups below and of the docstrings.

// Views

export { apiVersion } from './contract/version.ts'
export {
  defineVirtualWorkspace,
  type Host,
  type UrlPublisher,
  type VirtualWorkspace,
  type WorkspaceDefinition,
  type WorkspaceFactory,
} from './contract/workspace.ts'
export { urlsInStatus } from './publishing/urlsinstatus.ts'
export type { Params } from './request/path.ts'

// Resources

export { joined } from './computed/joined.ts'
export type { Join } from './computed/joins.ts'
export { type OwnKind, resourceOf } from './computed/kind.ts'
export { storageOf } from './computed/mapstorage.ts'
export { ObjectMap } from './computed/objectmap.ts'
export { type ApiResource, type ApiSet, apiSetOf, type Subresource } from './contract/apis.ts'
export type { ObjectSchema, TableColumn } from './contract/schema.ts'
export { createOnly } from './verbs/createonly.ts'

// Lenses

export { annotator } from './lens/annotate.ts'
export type { Lens, View } from './lens/lens.ts'
export { type NameMapping, namesIn, prefixed } from './lens/names.ts'
export { renamed } from './lens/renamed.ts'
export { readOnly, viewOf } from './lens/view.ts'

// Selectors

export {
  andFields,
  andLabels,
  type FieldSelector,
  fieldEquals,
  type LabelSelector,
  labelEquals,
  matchesFields,
  matchesLabels,
} from './selectors/selectors.ts'

// Requests and users

export type { Recorder, RequestContext } from './contract/context.ts'
export { loopbackContext } from './contract/loopback.ts'
export type { RequestInfo, ResourceRequest, Verb } from './request/requestinfo.ts'
export { loopback, type UserInfo } from './request/user.ts'

// Authorization

export {
  type Action,
  type Authorizer,
  allow,
  type Decision,
  decideAll,
  deny,
  viewDecision,
} from './contract/authorizer.ts'

// Admission

export type { AdmissionAttributes, AdmissionPlugin } from './contract/admission.ts'

// Backends and informers

export type { Backend, ResourceRef } from './contract/backend.ts'
export type { Informer, Informers } from './contract/informer.ts'
export type { Logger } from './contract/log.ts'

// Storage

export type {
  Change,
  Check,
  DeleteOptions,
  Deletion,
  ItemBatch,
  ItemList,
  ItemWatch,
  ListMeta,
  ListQuery,
  ResourceStorage,
  Selection,
  WatchQuery,
  WriteOptions,
} from './contract/storage.ts'
export { bookmark } from './responses/bookmark.ts'

// Objects

export { decodeItem, type Item, type ItemEvent, itemOf, type ObjectMeta } from './contract/item.ts'
export type { ClusterName, ClusterScope, KubeObject, ObjectKey } from './meta/object.ts'

// Errors

export {
  badRequest,
  conflict,
  expired,
  type FieldError,
  forbidden,
  invalid,
  notFound,
  StatusError,
  serviceUnavailable,
} from './meta/errors.ts'
