import { itemStruct, type MetaField, type MetaType, metaStructs } from '../../meta/objectmeta.ts'

const typeTexts: { readonly [T in MetaType]?: string } = {
  string: '',
  bool: ':bool',
  int64: ':int',
  'v1.Time': ':Time',
  'v1.FieldsV1': ':Json',
  'map[string]string': ':{text}',
  '[]string': ':text[]',
}

/**
 * The messages of the kinds that typed clients send as protobuf: `generated.proto` of each API group of Kubernetes. A field is
 * `<number> <name>` and a string unless `:type` follows: `[]` repeated, `{type}` a map with string keys. `*`: a pointer,
 * zero is written; `!`: a boolean that JSON always has; `^`: a message whose fields JSON has inline.
 */
export const messages: Readonly<Record<string, string>> = {
  Status: '1 metadata:ListMeta, 2 status, 3 message, 4 reason, 5 details*:StatusDetails, 6 code:int',
  StatusDetails: '1 name, 2 group, 3 kind, 4 causes:StatusCause[], 5 retryAfterSeconds:int, 6 uid',
  StatusCause: '1 reason, 2 message, 3 field',
  ListMeta: '1 selfLink, 2 resourceVersion, 3 continue, 4 remainingItemCount*:int',
  PartialObjectMetadata: '1 metadata:ObjectMeta',
  ...metadataMessages(),
  DeleteOptions:
    '1 gracePeriodSeconds*:int, 2 preconditions*:Preconditions, 3 orphanDependents*:bool, 4 propagationPolicy*, 5 dryRun:text[], 6 ignoreStoreReadErrorWithClusterBreakingPotential*:bool',
  Preconditions: '1 uid*, 2 resourceVersion*',
  Condition: '1 type, 2 status, 3 observedGeneration:int, 4 lastTransitionTime:Time, 5 reason, 6 message',
  LabelSelector: '1 matchLabels:{text}, 2 matchExpressions:SelectorRequirement[]',
  SelectorRequirement: '1 key, 2 operator, 3 values:text[]',
  ObjectReference: '1 kind, 2 namespace, 3 name, 4 uid, 5 apiVersion, 6 resourceVersion, 7 fieldPath',
  LocalReference: '1 name',

  Namespace: '1 metadata:ObjectMeta, 2 spec:NamespaceSpec, 3 status:NamespaceStatus',
  NamespaceSpec: '1 finalizers:text[]',
  NamespaceStatus: '1 phase, 2 conditions:NamespaceCondition[]',
  NamespaceCondition: '1 type, 2 status, 4 lastTransitionTime:Time, 5 reason, 6 message',
  ConfigMap: '1 metadata:ObjectMeta, 2 data:{text}, 3 binaryData:{bytes}, 4 immutable*:bool',
  Secret: '1 metadata:ObjectMeta, 2 data:{bytes}, 3 type, 4 stringData:{text}, 5 immutable*:bool',
  ServiceAccount:
    '1 metadata:ObjectMeta, 2 secrets:ObjectReference[], 3 imagePullSecrets:LocalReference[], 4 automountServiceAccountToken*:bool',
  ResourceQuota: '1 metadata:ObjectMeta, 2 spec:ResourceQuotaSpec, 3 status:ResourceQuotaStatus',
  ResourceQuotaSpec: '1 hard:{Quantity}, 2 scopes:text[], 3 scopeSelector*:ScopeSelector',
  ResourceQuotaStatus: '1 hard:{Quantity}, 2 used:{Quantity}',
  ScopeSelector: '1 matchExpressions:ScopeRequirement[]',
  ScopeRequirement: '1 scopeName, 2 operator, 3 values:text[]',
  Event:
    '1 metadata:ObjectMeta, 2 involvedObject:ObjectReference, 3 reason, 4 message, 5 source:EventSource, 6 firstTimestamp:Time, 7 lastTimestamp:Time, 8 count:int, 9 type, 10 eventTime:MicroTime, 11 series*:EventSeries, 12 action, 13 related*:ObjectReference, 14 reportingComponent, 15 reportingInstance',
  'events.k8s.io/Event':
    '1 metadata:ObjectMeta, 2 eventTime:MicroTime, 3 series*:EventSeries, 4 reportingController, 5 reportingInstance, 6 action, 7 reason, 8 regarding:ObjectReference, 9 related*:ObjectReference, 10 note, 11 type, 12 deprecatedSource:EventSource, 13 deprecatedFirstTimestamp:Time, 14 deprecatedLastTimestamp:Time, 15 deprecatedCount:int',
  EventSource: '1 component, 2 host',
  EventSeries: '1 count:int, 2 lastObservedTime:MicroTime',
  Lease: '1 metadata:ObjectMeta, 2 spec:LeaseSpec',
  LeaseSpec:
    '1 holderIdentity*, 2 leaseDurationSeconds*:int, 3 acquireTime*:MicroTime, 4 renewTime*:MicroTime, 5 leaseTransitions*:int, 6 strategy*, 7 preferredHolder*',

  Role: '1 metadata:ObjectMeta, 2 rules:PolicyRule[]',
  ClusterRole: '1 metadata:ObjectMeta, 2 rules:PolicyRule[], 3 aggregationRule*:AggregationRule',
  AggregationRule: '1 clusterRoleSelectors:LabelSelector[]',
  PolicyRule:
    '1 verbs:text[], 2 apiGroups:text[], 3 resources:text[], 4 resourceNames:text[], 5 nonResourceURLs:text[]',
  RoleBinding: '1 metadata:ObjectMeta, 2 subjects:Subject[], 3 roleRef:RoleRef',
  ClusterRoleBinding: '1 metadata:ObjectMeta, 2 subjects:Subject[], 3 roleRef:RoleRef',
  Subject: '1 kind, 2 apiGroup, 3 name, 4 namespace',
  RoleRef: '1 apiGroup, 2 kind, 3 name',

  SubjectAccessReview: '1 metadata:ObjectMeta, 2 spec:AccessReviewSpec, 3 status:AccessReviewStatus',
  LocalSubjectAccessReview: '1 metadata:ObjectMeta, 2 spec:AccessReviewSpec, 3 status:AccessReviewStatus',
  SelfSubjectAccessReview: '1 metadata:ObjectMeta, 2 spec:OwnAccessReviewSpec, 3 status:AccessReviewStatus',
  OwnAccessReviewSpec: '1 resourceAttributes*:ResourceAttributes, 2 nonResourceAttributes*:PathAttributes',
  AccessReviewStatus: '1 allowed!:bool, 2 reason, 3 evaluationError, 4 denied:bool',
  AccessReviewSpec:
    '1 resourceAttributes*:ResourceAttributes, 2 nonResourceAttributes*:PathAttributes, 3 user, 4 groups:text[], 5 extra:{TextList}, 6 uid',
  ResourceAttributes:
    '1 namespace, 2 verb, 3 group, 4 version, 5 resource, 6 subresource, 7 name, 8 fieldSelector*:AttributeSelector, 9 labelSelector*:AttributeSelector',
  AttributeSelector: '1 rawSelector, 2 requirements:SelectorRequirement[]',
  PathAttributes: '1 path, 2 verb',
  SelfSubjectRulesReview: '1 metadata:ObjectMeta, 2 spec:RulesReviewSpec, 3 status:RulesReviewStatus',
  RulesReviewStatus:
    '1 resourceRules:ResourceRule[], 2 nonResourceRules:PathRule[], 3 incomplete!:bool, 4 evaluationError',
  ResourceRule: '1 verbs:text[], 2 apiGroups:text[], 3 resources:text[], 4 resourceNames:text[]',
  PathRule: '1 verbs:text[], 2 nonResourceURLs:text[]',
  RulesReviewSpec: '1 namespace',
  SelfSubjectReview: '1 metadata:ObjectMeta, 2 status:SelfReviewStatus',
  SelfReviewStatus: '1 userInfo:UserInfo',
  UserInfo: '1 username, 2 uid, 3 groups:text[], 4 extra:{TextList}',
  TokenReview: '1 metadata:ObjectMeta, 2 spec:TokenReviewSpec, 3 status:TokenReviewStatus',
  TokenReviewStatus: '1 authenticated:bool, 2 user:UserInfo, 3 error, 4 audiences:text[]',
  TokenReviewSpec: '1 token, 2 audiences:text[]',
  TokenRequest: '1 metadata:ObjectMeta, 2 spec:TokenRequestSpec, 3 status:TokenRequestStatus',
  TokenRequestStatus: '1 token, 2 expirationTimestamp:Time',
  TokenRequestSpec: '1 audiences:text[], 3 boundObjectRef*:BoundReference, 4 expirationSeconds*:int',
  BoundReference: '1 kind, 2 apiVersion, 3 name, 4 uid',
  Scale: '1 metadata:ObjectMeta, 2 spec:ScaleSpec, 3 status:ScaleStatus',
  ScaleSpec: '1 replicas:int',
  ScaleStatus: '1 replicas:int, 2 selector',

  CertificateSigningRequest: '1 metadata:ObjectMeta, 2 spec:SigningSpec, 3 status:SigningStatus',
  SigningSpec:
    '1 request:bytes, 2 username, 3 uid, 4 groups:text[], 5 usages:text[], 6 extra:{TextList}, 7 signerName, 8 expirationSeconds*:int',
  SigningStatus: '1 conditions:SigningCondition[], 2 certificate:bytes',
  SigningCondition: '1 type, 2 reason, 3 message, 4 lastUpdateTime:Time, 5 lastTransitionTime:Time, 6 status',

  ValidatingWebhookConfiguration: '1 metadata:ObjectMeta, 2 webhooks:ValidatingWebhook[]',
  ValidatingWebhook:
    '1 name, 2 clientConfig:WebhookClient, 3 rules:OperationsRule[], 4 failurePolicy*, 5 namespaceSelector*:LabelSelector, 6 sideEffects*, 7 timeoutSeconds*:int, 8 admissionReviewVersions:text[], 9 matchPolicy*, 10 objectSelector*:LabelSelector, 11 matchConditions:MatchCondition[]',
  MutatingWebhookConfiguration: '1 metadata:ObjectMeta, 2 webhooks:MutatingWebhook[]',
  MutatingWebhook:
    '1 name, 2 clientConfig:WebhookClient, 3 rules:OperationsRule[], 4 failurePolicy*, 5 namespaceSelector*:LabelSelector, 6 sideEffects*, 7 timeoutSeconds*:int, 8 admissionReviewVersions:text[], 9 matchPolicy*, 10 reinvocationPolicy*, 11 objectSelector*:LabelSelector, 12 matchConditions:MatchCondition[]',
  OperationsRule: '1 operations:text[], 2 rule^:Rule',
  Rule: '1 apiGroups:text[], 2 apiVersions:text[], 3 resources:text[], 4 scope*',
  MatchCondition: '1 name, 2 expression',
  ValidatingAdmissionPolicy: '1 metadata:ObjectMeta, 2 spec:ValidatingPolicySpec, 3 status:PolicyStatus',
  ValidatingPolicySpec:
    '1 paramKind*:ParamKind, 2 matchConstraints*:MatchResources, 3 validations:Validation[], 4 failurePolicy*, 5 auditAnnotations:AuditAnnotation[], 6 matchConditions:MatchCondition[], 7 variables:PolicyVariable[]',
  PolicyStatus: '1 observedGeneration:int, 2 typeChecking*:TypeChecking, 3 conditions:Condition[]',
  TypeChecking: '1 expressionWarnings:ExpressionWarning[]',
  ExpressionWarning: '2 fieldRef, 3 warning',
  Validation: '1 expression, 2 message, 3 reason*, 4 messageExpression',
  AuditAnnotation: '1 key, 2 valueExpression',
  PolicyVariable: '1 name, 2 expression',
  ParamKind: '1 apiVersion, 2 kind',
  MatchResources:
    '1 namespaceSelector*:LabelSelector, 2 objectSelector*:LabelSelector, 3 resourceRules:NamedRule[], 4 excludeResourceRules:NamedRule[], 7 matchPolicy*',
  NamedRule: '1 resourceNames:text[], 2 ruleWithOperations^:OperationsRule',
  ValidatingAdmissionPolicyBinding: '1 metadata:ObjectMeta, 2 spec:ValidatingBindingSpec',
  ValidatingBindingSpec:
    '1 policyName, 2 paramRef*:ParamRef, 3 matchResources*:MatchResources, 4 validationActions:text[]',
  ParamRef: '1 name, 2 namespace, 3 selector*:LabelSelector, 4 parameterNotFoundAction*',
  MutatingAdmissionPolicy: '1 metadata:ObjectMeta, 2 spec:MutatingPolicySpec',
  MutatingPolicySpec:
    '1 paramKind*:ParamKind, 2 matchConstraints*:MatchResources, 3 variables:PolicyVariable[], 4 mutations:Mutation[], 5 failurePolicy*, 6 matchConditions:MatchCondition[], 7 reinvocationPolicy',
  Mutation: '2 patchType, 3 applyConfiguration*:MutationExpression, 4 jsonPatch*:MutationExpression',
  MutationExpression: '1 expression',
  MutatingAdmissionPolicyBinding: '1 metadata:ObjectMeta, 2 spec:MutatingBindingSpec',
  MutatingBindingSpec: '1 policyName, 2 paramRef*:ParamRef, 3 matchResources*:MatchResources',

  CustomResourceDefinition: '1 metadata:ObjectMeta, 2 spec:DefinitionSpec, 3 status:DefinitionStatus',
  DefinitionSpec:
    '1 group, 3 names:DefinitionNames, 4 scope, 7 versions:DefinitionVersion[], 9 conversion*:Conversion, 10 preserveUnknownFields:bool',
  DefinitionNames: '1 plural, 2 singular, 3 shortNames:text[], 4 kind, 5 listKind, 6 categories:text[]',
  DefinitionVersion:
    '1 name, 2 served!:bool, 3 storage!:bool, 4 schema*:DefinitionSchema, 5 subresources*:Subresources, 6 additionalPrinterColumns:PrinterColumn[], 7 deprecated:bool, 8 deprecationWarning*, 9 selectableFields:SelectableField[]',
  DefinitionSchema: '1 openAPIV3Schema*:Schema',
  Subresources: '1 status*:Empty, 2 scale*:ScalePaths',
  Empty: '',
  ScalePaths: '1 specReplicasPath, 2 statusReplicasPath, 3 labelSelectorPath*',
  PrinterColumn: '1 name, 2 type, 3 format, 4 description, 5 priority:int, 6 jsonPath',
  SelectableField: '1 jsonPath',
  Conversion: '1 strategy, 2 webhook*:WebhookConversion',
  WebhookConversion: '2 clientConfig*:WebhookClient, 3 conversionReviewVersions:text[]',
  WebhookClient: '1 service*:WebhookService, 2 caBundle:bytes, 3 url*',
  WebhookService: '1 namespace, 2 name, 3 path*, 4 port*:int',
  DefinitionStatus:
    '1 conditions:DefinitionCondition[], 2 acceptedNames:DefinitionNames, 3 storedVersions:text[], 4 observedGeneration:int',
  DefinitionCondition:
    '1 type, 2 status, 3 lastTransitionTime:Time, 4 reason, 5 message, 6 observedGeneration:int',
  Schema:
    '1 id, 2 $schema, 3 $ref*, 4 description, 5 type, 6 format, 7 title, 8 default*:Json, 9 maximum*:double, 10 exclusiveMaximum:bool, 11 minimum*:double, 12 exclusiveMinimum:bool, 13 maxLength*:int, 14 minLength*:int, 15 pattern, 16 maxItems*:int, 17 minItems*:int, 18 uniqueItems:bool, 19 multipleOf*:double, 20 enum:Json[], 21 maxProperties*:int, 22 minProperties*:int, 23 required:text[], 24 items*:SchemaOrArray, 25 allOf:Schema[], 26 oneOf:Schema[], 27 anyOf:Schema[], 28 not*:Schema, 29 properties:{Schema}, 30 additionalProperties*:SchemaOrBool, 31 patternProperties:{Schema}, 33 additionalItems*:SchemaOrBool, 34 definitions:{Schema}, 35 externalDocs*:ExternalDocs, 36 example*:Json, 37 nullable:bool, 38 x-kubernetes-preserve-unknown-fields*:bool, 39 x-kubernetes-embedded-resource:bool, 40 x-kubernetes-int-or-string:bool, 41 x-kubernetes-list-map-keys:text[], 42 x-kubernetes-list-type*, 43 x-kubernetes-map-type*, 44 x-kubernetes-validations:ValidationRule[]',
  SchemaItems: '1 schema*:Schema, 2 schemas:Schema[]',
  SchemaAllowed: '1 allows!:bool, 2 schema*:Schema',
  ExternalDocs: '1 description, 2 url',
  ValidationRule: '1 rule, 2 message, 3 messageExpression, 4 reason*, 5 fieldPath, 6 optionalOldSelf*:bool',
}

/** `ObjectMeta` and its structs. */
function metadataMessages(): Readonly<Record<string, string>> {
  const texts = Object.entries(metaStructs).map(([name, { fields }]) => {
    const ordered = Object.entries<MetaField>(fields).sort(([, one], [, other]) => one.number - other.number)
    return [name, ordered.map(([field, about]) => fieldText(field, about)).join(', ')]
  })
  return Object.fromEntries(texts)
}

function fieldText(name: string, { number, type, isPointer }: MetaField): string {
  const written = typeTexts[type] ?? `:${itemStruct(type)}[]`
  return `${number} ${name}${isPointer ? '*' : ''}${written}`
}
