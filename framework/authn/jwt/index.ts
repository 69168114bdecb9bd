export { jwtTokens, readAuthenticationConfig } from './authenticationconfig.ts'
export type { Expression, ExpressionCompiler } from './config.ts'
export type { JwtIssuer } from './jwttokens.ts'
export { workspaceTokens } from './workspacetokens.ts'
