import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import {
  atomicList,
  atomicObject,
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

// What several kinds have in common.

export const labelSelectorFields = {
  matchExpressions: atomicList(
    'Conditions on labels, all of which must hold.',
    object(
      'One condition on one label.',
      {
        key: string('The label.'),
        operator: string('How key and values relate: In, NotIn, Exists or DoesNotExist.'),
        values: atomicList('The values for In and NotIn; empty for Exists and DoesNotExist.'),
      },
      { required: ['key', 'operator'] },
    ),
  ),
  matchLabels: map('Labels that must have exactly these values.', { type: 'string' }),
} satisfies Record<string, JSONSchemaProps>

export const labelSelector = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps =>
  atomicObject(description, labelSelectorFields, more)

/** `metav1.Condition`, as kinds of Kubernetes have it. */
export const metaConditions = (description: string): JSONSchemaProps =>
  listMap(
    description,
    ['type'],
    object(
      'One aspect of the observed state.',
      {
        lastTransitionTime: time('When status last changed.'),
        message: string('Details, for people.'),
        observedGeneration: int64('The metadata.generation that was looked at.'),
        reason: string('Why, as one word in CamelCase.'),
        status: string('True, False or Unknown.'),
        type: string('Which aspect.'),
      },
      { required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'] },
    ),
    mergedBy('type'),
  )

/** The conditions of kcp: a type of its own, with a severity (chapter 20, section 2.0). */
export const kcpConditions: JSONSchemaProps = list(
  'What was observed about this object, one aspect per entry.',
  object(
    'One aspect of the observed state.',
    {
      lastTransitionTime: time('When this condition last changed.'),
      message: string('Details, for people.'),
      reason: string('Why, as one word in CamelCase.'),
      severity: string('How bad a status of False is: Error, Warning or Info. Empty when True.'),
      status: string('True, False or Unknown.'),
      type: string('Which aspect.'),
    },
    { required: ['lastTransitionTime', 'status', 'type'] },
  ),
)

export const objectReference = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps =>
  atomicObject(
    description,
    {
      apiVersion: string('Group and version of the object.'),
      fieldPath: string('Which part of the object, as a path of fields.'),
      kind: string('Kind of the object.'),
      name: string('Name of the object.'),
      namespace: string('Namespace of the object.'),
      resourceVersion: string('The version of the object that is meant.'),
      uid: string('UID of the object.'),
    },
    more,
  )

/** One RBAC rule. */
export const policyRule: JSONSchemaProps = object(
  'Verbs that are allowed on resources or on URLs.',
  {
    apiGroups: atomicList('Groups of the resources; "" is the core group, "*" is all.'),
    nonResourceURLs: atomicList('URL paths that are no resources; a trailing "*" matches any rest.'),
    resourceNames: atomicList('Names of objects; empty allows all names.'),
    resources: atomicList('Resources, or subresources as resource/subresource; "*" is all.'),
    verbs: atomicList('What may be done; "*" is everything.'),
  },
  { required: ['verbs'] },
)

/** A quantity such as `500m` or `2Gi`: text, or a plain integer. */
export const quantity: JSONSchemaProps = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  'x-kubernetes-int-or-string': true,
}

/** A quantity as built-in kinds read it: text or any number, which are checked where they are written canonically. */
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
  'Where the workspace is in its life.',
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
