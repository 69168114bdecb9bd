// The public surface of the kernel: what views, backends and servers are made of.

export type { Awaitable } from './async/awaitable.ts'
export { aborted } from './async/awaitable.ts'
export { bearerTokens, clientCertificates, requestHeaders, tokenFile, union } from './authn/index.ts'
export type { AdmissionAttributes, AdmissionPlugin } from './contract/admission.ts'
export {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type ConnectRequest,
  compareVersions,
  type ResourceNames,
  type Subresource,
} from './contract/apis.ts'
export {
  type Action,
  type Authorizer,
  actionOf,
  allow,
  clusterDecision,
  type Decision,
  decideAll,
  decideUntilRefused,
  decisionBy,
  deny,
  forbiddenTo,
  noOpinion,
  type ViewStep,
  viewDecision,
} from './contract/authorizer.ts'
export type { Backend, RawResponse, ResourceRef } from './contract/backend.ts'
export type { Recorder, RequestContext } from './contract/context.ts'
export type { Document, OpenApiDocuments } from './contract/documents.ts'
export type { IndexFn, Informer, Informers } from './contract/informer.ts'
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
} from './contract/item.ts'
export { createLogger, type Logger, silent } from './contract/log.ts'
export { type LoopbackRequest, loopbackContext } from './contract/loopback.ts'
export type { Decoded, ObjectSchema, TableColumn } from './contract/schema.ts'
export type { SharedCache } from './contract/sharedcache.ts'
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
export type {
  Forwarding,
  HeaderFields,
  Outbound,
  UpstreamEndpoint,
  UpstreamRequest,
  UpstreamResponse,
} from './contract/upstream.ts'
export { type Build, type VersionInfo, versionInfo } from './contract/version.ts'
export {
  defineVirtualWorkspace,
  type Host,
  type UrlPublisher,
  type VirtualWorkspace,
  type WorkspaceDefinition,
  type WorkspaceFactory,
} from './contract/workspace.ts'
export { type CrossClusterSource, crossClusterRead } from './informers/crossclusterread.ts'
export { createInformers } from './informers/informers.ts'
export { type Annotator, annotator } from './lens/annotate.ts'
export { type Lens, readOnly, type View, viewOf } from './lens/view.ts'
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
} from './meta/errors.ts'
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
  timestamp,
} from './meta/object.ts'
export { createMetrics, type Metrics } from './metrics/metrics.ts'
export { readTenantKubeconfig } from './net/kubeconfig.ts'
export { withoutVersion } from './publishing/publisher.ts'
export type { Authenticator, Credentials } from './request/authenticator.ts'
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
export type { Answer, VerbRequest } from './request/response.ts'
export {
  anonymous,
  isPrivileged,
  loopback,
  systemAuthenticated,
  systemMasters,
  systemUnauthenticated,
  type UserInfo,
} from './request/user.ts'
export { bookmark } from './responses/bookmark.ts'
export { parseFieldSelector, parseLabelSelector } from './selectors/parse.ts'
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
export type { HealthCheck } from './server/health.ts'
export type { ListenOptions, TlsOptions } from './server/listener.ts'
export { createServer, type Server, type ServerOptions } from './server/server.ts'
