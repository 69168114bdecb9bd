import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import type { KindDefinition } from '../definition.ts'
import { kindSchema, list, object, rules, string } from '../fields.ts'
import { kcpKind, stored } from './fragments.ts'

const nonEmpty = { minLength: 1 }
const claim = string(
  'Name of the claim from which the value is taken. Mutually exclusive with expression.',
  nonEmpty,
)
const expression = string(
  'CEL expression that returns the value from the variable claims. Mutually exclusive with claim.',
  nonEmpty,
)

const oneOfBoth = [
  'has(self.claim) || has(self.expression)',
  'either claim or expression must be specified',
] as const
const notBoth = [
  '!(has(self.claim) && has(self.expression))',
  'claim and expression cannot both be specified',
] as const

const prefixedClaim = (description: string): JSONSchemaProps =>
  object(
    description,
    {
      claim,
      expression,
      prefix: string('Prefix that is prepended to the value of the claim. Can only be set with claim.'),
    },
    rules(oneOfBoth, notBoth, [
      '!(has(self.prefix)) || has(self.claim)',
      'prefix can only be specified when claim is specified',
    ]),
  )

const claimMappings = object('Mapping of claims to the attributes of the user.', {
  extra: list(
    'Mapping of the extra attributes of the user.',
    object(
      'An extra attribute.',
      {
        key: string('Key of the extra attribute.'),
        valueExpression: string('CEL expression that returns a string or a list of strings.'),
      },
      { required: ['key', 'valueExpression'] },
    ),
  ),
  groups: prefixedClaim('Mapping of the groups of the user.'),
  uid: object('Mapping of the UID of the user.', { claim, expression }, rules(notBoth)),
  username: prefixedClaim('Mapping of the name of the user.'),
})

const claimRule = object(
  'A rule that validates the claims of a token: a claim with a required value, or an expression with a message.',
  {
    claim: string('Name of a required claim.', nonEmpty),
    expression: string('CEL expression that must return true.', nonEmpty),
    message: string('Message of the error if the expression returns false.', nonEmpty),
    requiredValue: string('Required value of the claim.', nonEmpty),
  },
  rules(
    oneOfBoth,
    notBoth,
    [
      '(has(self.expression) && !has(self.requiredValue)) || (has(self.claim) && has(self.requiredValue))',
      'requiredValue can only be specified when claim is specified',
    ],
    [
      '(has(self.expression) && has(self.message)) || (has(self.claim) && !has(self.message))',
      'message can only be specified when expression is specified',
    ],
  ),
)

const issuer = object(
  'Issuer of the tokens, and how its tokens are verified.',
  {
    audienceMatchPolicy: string(
      'How audiences are matched with the aud claim of a token. The only value is MatchAny.',
    ),
    audiences: list('Accepted token audiences. A token must have at least one of them in its aud claim.'),
    certificateAuthority: string('PEM-encoded CA certificates that verify connections to the issuer.'),
    discoveryURL: string(
      'URL of the OpenID configuration. Defaults to <url>/.well-known/openid-configuration.',
    ),
    url: string('URL of the issuer. Must equal the iss claim of its tokens.'),
  },
  { required: ['url'] },
)

const authenticator = object(
  'A JWT authenticator.',
  {
    claimMappings,
    claimValidationRules: list('Rules that validate the claims of a token. All must pass.', claimRule),
    issuer,
    userValidationRules: list(
      'Rules that validate the user to which a token is mapped. All must pass.',
      object(
        'A rule that validates the user.',
        {
          expression: string('CEL expression that must return true.'),
          message: string('Message of the error if the expression returns false.'),
        },
        { required: ['expression', 'message'] },
      ),
    ),
  },
  { required: ['claimMappings', 'issuer'] },
)

export const workspaceAuthenticationConfiguration: KindDefinition = kcpKind(
  'tenancy.kcp.io',
  'WorkspaceAuthenticationConfiguration',
  [
    stored('v1alpha1', {
      schema: kindSchema(
        'WorkspaceAuthenticationConfiguration configures authentication for workspaces, in addition to the authentication of the server.',
        {
          spec: object(
            'Desired state.',
            { jwt: list('JWT authenticators.', authenticator) },
            { required: ['jwt'] },
          ),
        },
        { required: ['metadata', 'spec'] },
      ),
      columns: [],
      status: false,
    }),
  ],
)
