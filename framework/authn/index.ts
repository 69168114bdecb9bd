export { clientCertificates } from './certificates.ts'
export {
  type IdentityHeaders,
  isIdentityHeader,
  type RequestHeaderOptions,
  requestHeaders,
} from './requestheaders.ts'
export {
  type AccountRef,
  type IssuedToken,
  type ServiceAccountKeys,
  serviceAccountTokens,
  type TokenGrant,
  type TokenIssuer,
  tokenIssuer,
} from './serviceaccounts.ts'
export { sha256 } from './sha256.ts'
export { type SigningKeys, signingKeys } from './signingkeys.ts'
export {
  type Identity,
  type TokenAuthenticator,
  TokenError,
  type TokenReader,
  type TokenUse,
  tokenAuthenticator,
} from './token.ts'
export { bearers, bearerTokens, parseTokenFile, type TokenUser, tokenFile, tokenUsers } from './tokens.ts'
export { union } from './union.ts'
