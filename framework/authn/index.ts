export { union } from './authentication.ts'
export { clientCertificates } from './certificates.ts'
export {
  type IdentityHeaders,
  isIdentityHeader,
  requestHeaders,
} from './requestheaders.ts'
export {
  type AccountRef,
  type ServiceAccountKeys,
  serviceAccountTokens,
  type TokenIssuer,
  tokenIssuer,
} from './serviceaccounts.ts'
export { sha256 } from './sha256.ts'
export { type SigningKeys, signingKeys } from './signingkeys.ts'
export {
  type BearerTokenReader,
  type TokenAuthenticator,
  TokenError,
  tokenAuthenticator,
} from './token.ts'
export { bearers, bearerTokens, type TokenUser, tokenFile, tokenUsers } from './tokens.ts'
export { type WebhookTokensOptions, webhookTokens, webhookTokensDefaults } from './webhooktokens.ts'
