import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { createdAt } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { atomicList, boolean, int32, int64, kindSchema, object, string, time } from '../fields.ts'
import { userExtra } from '../fragments.ts'
import { builtin } from './kind.ts'

type Properties = Readonly<Record<string, JSONSchemaProps>>

// Questions to the server: created, answered, never stored.

const selector = (description: string): JSONSchemaProps =>
  object(description, {
    rawSelector: string('The selector as it stands in the URL.'),
    requirements: atomicList(
      'The selector, parsed.',
      object(
        'One condition.',
        {
          key: string('The field or label.'),
          operator: string('How key and values relate.'),
          values: atomicList('The values.'),
        },
        { required: ['key', 'operator'] },
      ),
    ),
  })

const attributes = {
  nonResourceAttributes: object('The request, when it is not about a resource.', {
    path: string('The URL path.'),
    verb: string('The HTTP method in lower case.'),
  }),
  resourceAttributes: object('The request, when it is about a resource.', {
    fieldSelector: selector('Limits the request to some objects.'),
    group: string('The API group; "*" is all.'),
    labelSelector: selector('Limits the request to some objects.'),
    name: string('The name of the object; "" is all.'),
    namespace: string('The namespace; "" is all, or none.'),
    resource: string('The resource; "*" is all.'),
    subresource: string('The subresource.'),
    verb: string('The verb, such as get; "*" is all.'),
    version: string('The version; "*" is all.'),
  }),
} satisfies Properties

const subject = {
  extra: userExtra('Extra attributes of the user.'),
  groups: atomicList('The groups of the user.'),
  uid: string('The UID of the user.'),
  user: string('The name of the user.'),
} satisfies Properties

const decision = object(
  'The answer.',
  {
    allowed: boolean('Whether the request is allowed.'),
    denied: boolean('Whether it is refused whatever others say.'),
    evaluationError: string('What went wrong while deciding.'),
    reason: string('Why.'),
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
    const question = spec === undefined ? {} : { spec: object('The question.', spec) }
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
  description: 'Asks whether a user may make a request.',
  spec: { ...attributes, ...subject },
  status: decision,
})

export const localSubjectAccessReviews = authorization({
  kind: 'LocalSubjectAccessReview',
  description: 'Asks whether a user may make a request in one namespace.',
  namespaced: true,
  spec: { ...attributes, ...subject },
  status: decision,
})

export const selfSubjectAccessReviews = authorization({
  kind: 'SelfSubjectAccessReview',
  description: 'Asks whether the caller may make a request.',
  spec: attributes,
  status: decision,
})

const resourceRule = object(
  'Verbs that are allowed on resources.',
  {
    apiGroups: atomicList('The groups.'),
    resourceNames: atomicList('The names; empty is all.'),
    resources: atomicList('The resources.'),
    verbs: atomicList('The verbs.'),
  },
  { required: ['verbs'] },
)
const nonResourceRule = object(
  'Methods that are allowed on URLs.',
  { nonResourceURLs: atomicList('The URL paths.'), verbs: atomicList('The methods in lower case.') },
  { required: ['verbs'] },
)

export const selfSubjectRulesReviews = authorization({
  kind: 'SelfSubjectRulesReview',
  description: 'Asks what the caller may do in a namespace.',
  spec: { namespace: string('The namespace.') },
  status: object(
    'The answer.',
    {
      evaluationError: string('What went wrong while deciding.'),
      incomplete: boolean('Whether more may be allowed than is listed.'),
      nonResourceRules: atomicList('What is allowed on URLs.', nonResourceRule),
      resourceRules: atomicList('What is allowed on resources.', resourceRule),
    },
    { required: ['resourceRules', 'nonResourceRules', 'incomplete'] },
  ),
})

const userInfo = object('Who it is.', {
  extra: userExtra('Extra attributes of the user.'),
  groups: atomicList('The groups of the user.'),
  uid: string('The UID of the user.'),
  username: string('The name of the user.'),
})

export const tokenReviews = authentication({
  kind: 'TokenReview',
  description: 'Asks whose a token is.',
  spec: { audiences: atomicList('For whom the token must be.'), token: string('The token.') },
  status: object('The answer.', {
    audiences: atomicList('For whom the token is, of those asked for.'),
    authenticated: boolean('Whether the token is good.'),
    error: string('Why it is not.'),
    user: userInfo,
  }),
})

export const selfSubjectReviews = authentication({
  kind: 'SelfSubjectReview',
  description: 'Asks who the caller is.',
  status: object('The answer.', { userInfo }),
})

/** `authentication.k8s.io/v1 TokenRequest`: the body of serviceaccounts/token. */
export const tokenRequestSchema: JSONSchemaProps = kindSchema(
  'Asks for a token of a service account.',
  {
    spec: object(
      'What is wanted.',
      {
        audiences: atomicList('For whom the token is.'),
        boundObjectRef: object('The object with which the token ends.', {
          apiVersion: string('Group and version of the object.'),
          kind: string('Pod, Secret or Node.'),
          name: string('Name of the object.'),
          uid: string('UID of the object.'),
        }),
        expirationSeconds: int64('How long the token is good, in seconds.', { default: 3600 }),
      },
      { required: ['audiences'] },
    ),
    status: object(
      'The answer.',
      { expirationTimestamp: time('When the token ends.'), token: string('The token.') },
      { required: ['token', 'expirationTimestamp'] },
    ),
  },
  { required: ['spec'] },
)

/** `autoscaling/v1 Scale`: the body of every `/scale` (chapter 40, rule 7.59). */
export const scaleSchema: JSONSchemaProps = kindSchema('How many there are and should be.', {
  spec: object('What is wanted.', { replicas: int32('The wanted number.', { minimum: 0 }) }),
  status: object('What was observed.', {
    replicas: int32('The actual number.'),
    selector: string('The label selector of what is counted.'),
  }),
})
