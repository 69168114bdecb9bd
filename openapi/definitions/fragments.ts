import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import {
  atomicList,
  atomicObject,
  bytes,
  int32,
  int64,
  list,
  listMap,
  map,
  mergedBy,
  object,
  oneOfStrings,
  string,
  time,
} from './fields.ts'

// Schemas that several kinds share.

export const labelSelectorFields = {
  matchExpressions: atomicList(
    'List of label selector requirements. The requirements are ANDed.',
    object(
      'A requirement on the values of one label.',
      {
        key: string('Key of the label that the requirement applies to.'),
        operator: string('Relation of the key to the values: In, NotIn, Exists or DoesNotExist.'),
        values: atomicList(
          'Values for the operators In and NotIn. Must be empty for Exists and DoesNotExist.',
        ),
      },
      { required: ['key', 'operator'] },
    ),
  ),
  matchLabels: map(
    'Map of labels to required values. An entry is the same as a requirement with the operator In and one value.',
    { type: 'string' },
  ),
} satisfies Record<string, JSONSchemaProps>

export const labelSelector = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps =>
  atomicObject(description, labelSelectorFields, more)

/** A list of conditions with the fields of `metav1.Condition`, of which `required` are required. */
export const conditions = (
  description: string,
  required: readonly string[],
  more: JSONSchemaProps = {},
): JSONSchemaProps =>
  listMap(
    description,
    ['type'],
    object(
      'A condition of the object.',
      {
        lastTransitionTime: time('Last time the status of the condition changed.'),
        message: string('Human-readable details about the last transition.'),
        observedGeneration: int64('metadata.generation for which the condition was set.'),
        reason: string('Reason for the last transition, as one word in CamelCase.'),
        status: string('Status of the condition: True, False or Unknown.'),
        type: string('Type of the condition, in CamelCase.'),
      },
      { required },
    ),
    more,
  )

/** `metav1.Condition`. */
export const metaConditions = (description: string): JSONSchemaProps =>
  conditions(description, ['type', 'status', 'lastTransitionTime', 'reason', 'message'], mergedBy('type'))

/** `Condition` of kcp (`third_party/conditions/apis/conditions/v1alpha1`), which has a severity. */
export const kcpConditions: JSONSchemaProps = list(
  'Conditions of the object.',
  object(
    'A condition of the object.',
    {
      lastTransitionTime: time('Last time the status of the condition changed.'),
      message: string('Human-readable details about the last transition.'),
      reason: string('Reason for the last transition, as one word in CamelCase.'),
      severity: string('Severity of the status False: Error, Warning or Info. Empty if the status is True.'),
      status: string('Status of the condition: True, False or Unknown.'),
      type: string('Type of the condition, in CamelCase.'),
    },
    { required: ['lastTransitionTime', 'status', 'type'] },
  ),
)

export const objectReference = (description: string): JSONSchemaProps =>
  atomicObject(description, {
    apiVersion: string('API group and version of the referenced object.'),
    fieldPath: string('Path of a field of the referenced object.'),
    kind: string('Kind of the referenced object.'),
    name: string('Name of the referenced object.'),
    namespace: string('Namespace of the referenced object.'),
    resourceVersion: string('Resource version of the referenced object.'),
    uid: string('UID of the referenced object.'),
  })

/** One RBAC rule. */
export const policyRule: JSONSchemaProps = object(
  'A rule that allows verbs on resources or on non-resource URLs.',
  {
    apiGroups: atomicList('API groups of the resources. "" is the core group, "*" matches all groups.'),
    nonResourceURLs: atomicList('Non-resource URL paths. A trailing "*" matches a prefix.'),
    resourceNames: atomicList('Names of the objects. All names are allowed if empty.'),
    resources: atomicList(
      'Resources, or subresources as <resource>/<subresource>. "*" matches all resources.',
    ),
    verbs: atomicList('Verbs that are allowed. "*" matches all verbs.'),
  },
  { required: ['verbs'] },
)

/** A quantity such as `500m` or `2Gi`: a string or an integer. */
export const quantity: JSONSchemaProps = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  'x-kubernetes-int-or-string': true,
}

/** A quantity of built-in kinds: a string or a number, which is validated when it is canonicalized. */
export const anyQuantity: JSONSchemaProps = {
  description: 'A quantity such as 500m or 2Gi.',
  nullable: true,
  'x-kubernetes-preserve-unknown-fields': true,
}

/** Extra attributes of a user. */
export const userExtra = (description: string): JSONSchemaProps =>
  map(description, { type: 'array', items: { type: 'string' } })

/** The phases that Workspace and LogicalCluster share. */
export const workspacePhase: JSONSchemaProps = oneOfStrings(
  'Current phase.',
  ['Scheduling', 'Initializing', 'Ready', 'Unavailable', 'Inactive', 'Terminating', 'Deleting'],
  { default: 'Scheduling' },
)

/** `root:org:team`. */
export const workspacePathPattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'
/** Initializers and terminators: `<workspace path>:<type>` or `system:<name>`. */
export const initializerName: JSONSchemaProps = {
  type: 'string',
  pattern:
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$',
}

// Shared by CustomResourceDefinition and APIResourceSchema.

/** `required` in the order in which errors list missing fields. */
export const resourceNames = (description: string, required: readonly string[]): JSONSchemaProps =>
  object(
    description,
    {
      categories: atomicList(
        'Categories of the resource, such as all. Clients use them to list several resources at once.',
      ),
      kind: string('Kind of the objects, in CamelCase.'),
      listKind: string('Kind of lists of the objects. Defaults to <kind>List.'),
      plural: string('Plural name of the resource, as used in URLs.'),
      shortNames: atomicList('Short names of the resource for command lines.'),
      singular: string('Singular name of the resource. Defaults to the kind in lower case.'),
    },
    { required },
  )

export const printerColumn = (required: readonly string[]): JSONSchemaProps =>
  object(
    'An additional column of tables.',
    {
      description: string('Description of the column.'),
      format: string('OpenAPI format of the values of the column.'),
      jsonPath: string('JSONPath of the value in the object.'),
      name: string('Name of the column.'),
      priority: int32(
        'Importance of the column. Columns with a priority above 0 are shown in wide tables only.',
      ),
      type: string('OpenAPI type of the values of the column, or date.'),
    },
    { required },
  )

const statusSubresource =
  'Enables the /status subresource. Writes to the object then ignore status, and writes to /status ignore everything else.'

/** `status` is the schema of the empty object that enables `/status`. */
export const subresources = (status: (description: string) => JSONSchemaProps): JSONSchemaProps =>
  object('Subresources of this version.', {
    scale: object(
      'Enables the /scale subresource.',
      {
        labelSelectorPath: string('JSONPath of the label selector, under .spec or .status.'),
        specReplicasPath: string('JSONPath of the desired number of replicas, under .spec.'),
        statusReplicasPath: string('JSONPath of the observed number of replicas, under .status.'),
      },
      { required: ['specReplicasPath', 'statusReplicasPath'] },
    ),
    status: status(statusSubresource),
  })

export const selectableFields = atomicList(
  'Fields that can be used in field selectors.',
  object(
    'A selectable field.',
    { jsonPath: string('Simple JSONPath of the field.') },
    { required: ['jsonPath'] },
  ),
)

/** How a server calls a webhook: admissionregistration's and apiextensions' `WebhookClientConfig`. */
export const webhookClientConfig = object('How to connect to the webhook: a URL or a Service.', {
  caBundle: bytes('PEM-encoded CA certificates that verify the certificate of the webhook.'),
  service: object(
    'Service of the webhook.',
    {
      name: string('Name of the Service.'),
      namespace: string('Namespace of the Service.'),
      path: string('URL path of the webhook.'),
      port: int32('Port of the Service. Defaults to 443.', { default: 443 }),
    },
    { required: ['namespace', 'name'] },
  ),
  url: string('URL of the webhook, in the form https://host:port/path.'),
})
