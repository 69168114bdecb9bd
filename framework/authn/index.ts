export { union } from './authentication.ts'
export { clientCertificates } from './certificates.ts'
export {
  type IdentityHeaders,
  isIdentityHeader,
  requestHeaders,
} from './requestheaders.ts'
export {
  type AccountRef,
  type ReviewElsewhere,
  type ServiceAccountKeys,
  serviceAccountTokens,
  type TokenIssuer,
  tokenIssuer,
} from './serviceaccounts.ts'
export { type SigningKeys, signingKeys } from './signingkeys.ts'
export {
  type BearerTokenReader,
  type Identity,
  sha256,
  type TokenAuthenticator,
  TokenError,
  tokenAuthenticator,
} from './token.ts'
export { bearers, bearerTokens, type TokenUser, tokenFile, tokenUsers } from './tokens.ts'
export { type WebhookTokensOptions, webhookTokens, webhookTokensDefaults } from './webhooktokens.ts'
