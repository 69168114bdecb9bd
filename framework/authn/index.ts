export { clientCertificates } from './certificates.ts'
export { type RequestHeaderOptions, requestHeaders } from './requestheaders.ts'
export {
  bearerTokens,
  parseTokenFile,
  sha256,
  type TokenReader,
  type TokenUser,
  tokenFile,
  tokenUsers,
} from './tokens.ts'
export { union } from './union.ts'
