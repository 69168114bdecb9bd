import type { Shape } from './shape.ts'

const text: Shape = 'string'
const claimOrExpression: Shape = { claim: text, expression: text }
const prefixedClaim: Shape = { claim: text, expression: text, prefix: text }

/** The fields of one entry of `jwt`. */
export const jwtShape: Shape = {
  issuer: {
    url: text,
    discoveryURL: text,
    certificateAuthority: text,
    audiences: [text],
    audienceMatchPolicy: text,
  },
  claimMappings: {
    username: prefixedClaim,
    groups: prefixedClaim,
    uid: claimOrExpression,
    extra: [{ key: text, valueExpression: text }],
  },
  claimValidationRules: [{ claim: text, requiredValue: text, expression: text, message: text }],
  userValidationRules: [{ expression: text, message: text }],
}
