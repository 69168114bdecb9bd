// The public surface of the kernel: what views, backends and servers are made of.

export { bookmark } from './answers/bookmark.ts'
export { aborted } from './answers/streams.ts'
export {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type ConnectRequest,
  compareVersions,
  type ResourceNames,
  type Subresource,
} from './apis.ts'
export type { Authenticator, Credentials } from './authenticator.ts'
export { bearerTokens, clientCertificates, requestHeaders, tokenFile, union } from './authn/index.ts'
export { actionOf, forbiddenTo } from './authorize.ts'
export {
  type Action,
  type Authorizer,
  allow,
  type Decision,
  decisionBy,
  deny,
  noOpinion,
} from './authorizer.ts'
export type { Awaitable } from './awaitable.ts'
export type { Backend, RawResponse, ResourceRef } from './backend.ts'
export { borrowed, type Lender } from './borrowed.ts'
export type { Recorder, RequestContext } from './context.ts'
export type { Document, OpenApiDocuments } from './discovery/documents.ts'
export { parseYaml } from './encoding/yaml.ts'
export {
  type About,
  alreadyExists,
  badRequest,
  conflict,
  expired,
  type FieldError,
  type FieldErrorType,
  fieldErrorBody,
  forbidden,
  internalError,
  invalid,
  methodNotSupported,
  modified,
  notAcceptable,
  notFound,
  notServed,
  type Status,
  type StatusCause,
  type StatusDetails,
  StatusError,
  serviceUnavailable,
  timeout,
  tooLarge,
  tooManyRequests,
  unauthorized,
  unsupportedMediaType,
} from './errors.ts'
export type { Answer, VerbRequest } from './exchange.ts'
export type { HealthCheck } from './health.ts'
export type { IndexFn, Informer, Informers } from './informer.ts'
export { createInformers } from './informers.ts'
export {
  clusterAnnotation,
  decodeItem,
  type EventType,
  encodedOf,
  type Item,
  type ItemEvent,
  initialEventsEnd,
  itemFrom,
  itemOf,
  keyOf,
  metaOf,
  type ObjectMeta,
} from './item.ts'
export { type Annotator, annotator } from './lens/annotate.ts'
export { readOnly } from './lens/readonly.ts'
export type { ListenOptions, TlsOptions } from './listener.ts'
export { createLogger, type Logger, silent } from './log.ts'
export { type LoopbackRequest, loopbackContext } from './loopback.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export {
  apiVersionOf,
  type ClusterName,
  type ClusterScope,
  type GroupVersionResource,
  groupResource,
  type Json,
  type KubeObject,
  type Metadata,
  type ObjectKey,
  type OwnerReference,
} from './object.ts'
export type { Departure, Endpoint, Glimpse, HeaderFields, Outbound, Passage } from './passage.ts'
export { withoutVersion } from './publisher.ts'
export type { Params } from './request/path.ts'
export {
  isClusterName,
  isClusterPath,
  type ParamsOf,
  type PathPattern,
  pathPattern,
  type ViewPath,
} from './request/path.ts'
export {
  isTrue,
  type NonResourceRequest,
  parseRequestInfo,
  type RequestInfo,
  type ResourceRequest,
  type Verb,
} from './request/requestinfo.ts'
export type { Decoded, ObjectSchema, TableColumn } from './schema.ts'
export { parseFieldSelector } from './selectors/fieldselector.ts'
export { parseLabelSelector } from './selectors/labelselector.ts'
export {
  andFields,
  andLabels,
  type FieldRequirement,
  type FieldSelector,
  fieldEquals,
  formatFieldSelector,
  formatLabelSelector,
  type LabelRequirement,
  type LabelSelector,
  labelEquals,
  matchesFields,
  matchesLabels,
  requiredField,
} from './selectors/selectors.ts'
export { createServer, type Server, type ServerOptions } from './server.ts'
export type { SharedCache } from './sharedcache.ts'
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
} from './storage.ts'
export { timestamp } from './timestamp.ts'
export {
  anonymous,
  isPrivileged,
  loopback,
  systemAuthenticated,
  systemMasters,
  systemUnauthenticated,
  type UserInfo,
} from './user.ts'
export { type Build, type VersionInfo, versionInfo } from './version.ts'
export { type Lens, type View, viewOf } from './view.ts'
export { allAnswers, askedIn, untilRefused, type ViewStep, viewDecision } from './viewsteps.ts'
export {
  type Admission,
  type AdmissionRequest,
  defineVirtualWorkspace,
  type Host,
  type UrlPublisher,
  type VirtualWorkspace,
  type WorkspaceDefinition,
  type WorkspaceFactory,
} from './workspace.ts'
