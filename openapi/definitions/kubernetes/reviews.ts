import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { createdAt } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { atomicList, boolean, int32, int64, kindSchema, object, string, time } from '../fields.ts'
import { userExtra } from '../fragments.ts'
import { builtin } from './kind.ts'

type Properties = Readonly<Record<string, JSONSchemaProps>>

// Reviews, and the kinds of subresources. They are not stored.

const selector = (description: string): JSONSchemaProps =>
  object(description, {
    rawSelector: string('Selector in its string form. Mutually exclusive with requirements.'),
    requirements: atomicList(
      'Requirements of the selector. Mutually exclusive with rawSelector.',
      object(
        'A requirement of the selector.',
        {
          key: string('Field or label that the requirement applies to.'),
          operator: string('Relation of the key to the values.'),
          values: atomicList('Values of the requirement.'),
        },
        { required: ['key', 'operator'] },
      ),
    ),
  })

const attributes = {
  nonResourceAttributes: object(
    'Attributes of a non-resource request. Mutually exclusive with resourceAttributes.',
    {
      path: string('URL path of the request.'),
      verb: string('HTTP method of the request, in lower case.'),
    },
  ),
  resourceAttributes: object(
    'Attributes of a resource request. Mutually exclusive with nonResourceAttributes.',
    {
      fieldSelector: selector('Field selector of the request.'),
      group: string('API group of the resource. "*" means all groups.'),
      labelSelector: selector('Label selector of the request.'),
      name: string('Name of the object. "" means all objects.'),
      namespace: string(
        'Namespace of the object. "" means all namespaces, or none for cluster-scoped resources.',
      ),
      resource: string('Plural name of the resource. "*" means all resources.'),
      subresource: string('Name of the subresource. "" means none.'),
      verb: string('Verb of the request, such as get. "*" means all verbs.'),
      version: string('API version of the resource. "*" means all versions.'),
    },
  ),
} satisfies Properties

const subject = {
  extra: userExtra('Extra attributes of the user.'),
  groups: atomicList('Groups of the user.'),
  uid: string('UID of the user.'),
  user: string('Name of the user.'),
} satisfies Properties

const decision = object(
  'Result of the review. Set by the server.',
  {
    allowed: boolean('Whether the request is allowed.'),
    denied: boolean('Whether the request is explicitly denied.'),
    evaluationError: string('Error that occurred during the evaluation.'),
    reason: string('Reason for the decision.'),
  },
  { required: ['allowed'] },
)

interface Review {
  readonly kind: string
  readonly description: string
  readonly namespaced?: boolean
  readonly spec?: Properties
  readonly status: JSONSchemaProps
}

const review =
  (group: string) =>
  ({ kind, description, namespaced = false, spec, status }: Review): KindDefinition => {
    const question = spec === undefined ? {} : { spec: object('Attributes under review.', spec) }
    const required = spec === undefined ? {} : { required: ['spec'] }
    return builtin({
      group,
      kind,
      namespaced,
      schema: kindSchema(description, { ...question, status }, required),
      columns: [createdAt],
    })
  }

const authorization = review('authorization.k8s.io')
const authentication = review('authentication.k8s.io')

export const subjectAccessReviews = authorization({
  kind: 'SubjectAccessReview',
  description: 'SubjectAccessReview checks whether a user can perform an action.',
  spec: { ...attributes, ...subject },
  status: decision,
})

export const localSubjectAccessReviews = authorization({
  kind: 'LocalSubjectAccessReview',
  description: 'LocalSubjectAccessReview checks whether a user can perform an action in a namespace.',
  namespaced: true,
  spec: { ...attributes, ...subject },
  status: decision,
})

export const selfSubjectAccessReviews = authorization({
  kind: 'SelfSubjectAccessReview',
  description: 'SelfSubjectAccessReview checks whether the requesting user can perform an action.',
  spec: attributes,
  status: decision,
})

const resourceRule = object(
  'A rule that allows verbs on resources.',
  {
    apiGroups: atomicList('API groups of the resources. "*" means all groups.'),
    resourceNames: atomicList('Names of the objects. Empty means all names.'),
    resources: atomicList('Resources. "*" means all resources.'),
    verbs: atomicList('Verbs that are allowed. "*" means all verbs.'),
  },
  { required: ['verbs'] },
)
const nonResourceRule = object(
  'A rule that allows verbs on non-resource URLs.',
  {
    nonResourceURLs: atomicList('URL paths. A trailing "*" matches a prefix.'),
    verbs: atomicList('HTTP methods that are allowed, in lower case.'),
  },
  { required: ['verbs'] },
)

export const selfSubjectRulesReviews = authorization({
  kind: 'SelfSubjectRulesReview',
  description: 'SelfSubjectRulesReview lists what the requesting user can do in a namespace.',
  spec: { namespace: string('Namespace to evaluate the rules for.') },
  status: object(
    'Result of the review. Set by the server.',
    {
      evaluationError: string('Error that occurred during the evaluation.'),
      incomplete: boolean('Whether the lists can be incomplete.'),
      nonResourceRules: atomicList('Rules for non-resource URLs.', nonResourceRule),
      resourceRules: atomicList('Rules for resources.', resourceRule),
    },
    { required: ['resourceRules', 'nonResourceRules', 'incomplete'] },
  ),
})

const userInfo = object('Attributes of the user.', {
  extra: userExtra('Extra attributes of the user.'),
  groups: atomicList('Groups of the user.'),
  uid: string('UID of the user.'),
  username: string('Name of the user.'),
})

export const tokenReviews = authentication({
  kind: 'TokenReview',
  description: 'TokenReview authenticates a token.',
  spec: {
    audiences: atomicList('Accepted token audiences. Defaults to the audiences of the server.'),
    token: string('Bearer token.'),
  },
  status: object('Result of the review. Set by the server.', {
    audiences: atomicList('Accepted audiences that the token is issued for.'),
    authenticated: boolean('Whether the token was authenticated.'),
    error: string('Error that occurred during authentication.'),
    user: userInfo,
  }),
})

export const selfSubjectReviews = authentication({
  kind: 'SelfSubjectReview',
  description: 'SelfSubjectReview returns the attributes of the requesting user.',
  status: object('Result of the review. Set by the server.', { userInfo }),
})

/** `authentication.k8s.io/v1 TokenRequest`: the body of serviceaccounts/token. */
export const tokenRequestSchema: JSONSchemaProps = kindSchema(
  'TokenRequest requests a token for a service account.',
  {
    spec: object(
      'Desired state.',
      {
        audiences: atomicList('Intended audiences of the token.'),
        boundObjectRef: object(
          'Object to which the token is bound. The token is valid only while the object exists.',
          {
            apiVersion: string('API group and version of the referenced object.'),
            kind: string('Kind of the referenced object: Pod, Secret or Node.'),
            name: string('Name of the referenced object.'),
            uid: string('UID of the referenced object.'),
          },
        ),
        expirationSeconds: int64('Requested validity of the token, in seconds.', { default: 3600 }),
      },
      { required: ['audiences'] },
    ),
    status: object(
      'Result of the review. Set by the server.',
      { expirationTimestamp: time('Time when the token expires.'), token: string('Bearer token.') },
      { required: ['token', 'expirationTimestamp'] },
    ),
  },
  { required: ['spec'] },
)

/** `autoscaling/v1 Scale`, the kind of `/scale` subresources (rules.md 7.59). */
export const scaleSchema: JSONSchemaProps = kindSchema(
  'Scale describes the number of replicas of an object.',
  {
    spec: object('Desired state.', { replicas: int32('Desired number of replicas.', { minimum: 0 }) }),
    status: object('Observed state.', {
      replicas: int32('Observed number of replicas.'),
      selector: string('Label selector of the replicas, in its string form.'),
    }),
  },
)
