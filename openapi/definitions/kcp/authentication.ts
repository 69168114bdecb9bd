import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import type { KindDefinition } from '../definition.ts'
import { kindSchema, list, object, rules, string } from '../fields.ts'
import { kcpKind, stored } from './fragments.ts'

const nonEmpty = { minLength: 1 }
const claim = string('The claim of the token that has the value.', nonEmpty)
const expression = string('A CEL expression that makes the value.', nonEmpty)

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
    { claim, expression, prefix: string('Put before the value of the claim.') },
    rules(oneOfBoth, notBoth, [
      '!(has(self.prefix)) || has(self.claim)',
      'prefix can only be specified when claim is specified',
    ]),
  )

const claimMappings = object('How claims become attributes of the user.', {
  extra: list(
    'Extra attributes of the user.',
    object(
      'One attribute.',
      {
        key: string('The name of the attribute.'),
        valueExpression: string('A CEL expression that makes its values.'),
      },
      { required: ['key', 'valueExpression'] },
    ),
  ),
  groups: prefixedClaim('The groups of the user.'),
  uid: object('The UID of the user.', { claim, expression }, rules(notBoth)),
  username: prefixedClaim('The name of the user.'),
})

const claimRule = object(
  'One condition: a claim with a value, or an expression with a message.',
  {
    claim: string('A claim that the token must have.', nonEmpty),
    expression: string('A CEL expression that must be true.', nonEmpty),
    message: string('What is said when the expression is false.', nonEmpty),
    requiredValue: string('The value that the claim must have.', nonEmpty),
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
  'Who signs the tokens.',
  {
    audienceMatchPolicy: string('How several audiences are matched: MatchAny.'),
    audiences: list('The audiences of which a token must name one.'),
    certificateAuthority: string('The certificates to trust when keys are fetched, as PEM.'),
    discoveryURL: string('Where its OpenID configuration is, if not below url.'),
    url: string('The issuer, as tokens name it.'),
  },
  { required: ['url'] },
)

const authenticator = object(
  'One issuer of tokens.',
  {
    claimMappings,
    claimValidationRules: list('Conditions on the claims of a token.', claimRule),
    issuer,
    userValidationRules: list(
      'Conditions on the user that comes out.',
      object(
        'One condition.',
        {
          expression: string('A CEL expression that must be true.'),
          message: string('What is said when it is false.'),
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
        'Who, besides the users of the server, may log in to workspaces.',
        {
          spec: object(
            'What is wanted.',
            { jwt: list('The issuers of JSON web tokens.', authenticator) },
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
