// The public API of schemas and OpenAPI documents.

export { humanDuration, since } from '../framework/formats/humanduration.ts'
export type { JSONSchemaProps, ValidationRule } from '../framework/meta/jsonschema.ts'
export {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from '../framework/meta/names.ts'
export type { DefinedNames } from '../kcp/apis.ts'
export { validateAPIResourceSchema } from './apiresourceschema.ts'
export { columnsOf, selectableFieldsOf } from './columns.ts'
export { compileCached, compileSchema, schemaCache } from './compile.ts'
export { defaultCustomResourceDefinition, validateCustomResourceDefinition } from './crd/crd.ts'
export type { KindDefinition, KindVersion, PrinterColumn, ScalePaths } from './definitions/definition.ts'
export { apiResourceSchemaOf, resourceName, schemaFor } from './definitions/definition.ts'
export { kcpKinds } from './definitions/kcp/index.ts'
export { eventSource } from './definitions/kubernetes/events.ts'
export { builtinKinds, reviewKinds } from './definitions/kubernetes/index.ts'
export { type RestStrategy, restStrategyOf } from './definitions/kubernetes/reststrategy.ts'
export { scaleSchema, tokenRequestSchema } from './definitions/kubernetes/reviews.ts'
export { createOpenApiDocuments } from './documents/documents.ts'
export { type JsonPath, jsonPath } from './jsonpath/jsonpath.ts'
export { JsonPathError } from './jsonpath/parser.ts'
export {
  allVerbs,
  apiResourcesOf,
  definitionOf,
  type ResourceWiring,
  readOnlyResourcesOf,
  reviewResourcesOf,
  subresourceVerbs,
} from './resource.ts'
export { checkStructural } from './structural/structural.ts'
export {
  compileQueryExpression,
  compileViewExpression,
  type ExpressionAllowance,
  type ExpressionResult,
  type ExpressionSubject,
  prepareExpressions,
  requestAllowance,
  type ViewExpression,
} from './views/expression.ts'
export { type ExpressionParams, paramProblems } from './views/params.ts'
export type { ClusterFacts, UserFacts } from './views/variables.ts'
