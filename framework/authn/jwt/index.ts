export {
  type AnonymousConfig,
  type AuthenticationConfig,
  type AuthenticationConfigOptions,
  issuersOf,
  jwtTokens,
  readAuthenticationConfig,
} from './authenticationconfig.ts'
export type { ClaimsBudget, ClaimsExpression, ExpressionCompiler, JwtConfig } from './config.ts'
export type { JwtIssuer } from './jwttokens.ts'
export { excessOf } from './limits.ts'
export { unusableEntries } from './rules.ts'
export { workspaceTokens } from './workspacetokens.ts'
