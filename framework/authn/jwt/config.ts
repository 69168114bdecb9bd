/** `jwt[]` of an AuthenticationConfiguration (apiserver.config.k8s.io) and of a WorkspaceAuthenticationConfiguration: one issuer. */
export interface JwtConfig {
  readonly issuer: IssuerConfig
  readonly claimMappings: ClaimMappings
  readonly claimValidationRules?: readonly ClaimRule[]
  readonly userValidationRules?: readonly UserRule[]
}

export interface IssuerConfig {
  /** `iss` of its tokens; its OpenID configuration is below. */
  readonly url: string
  /** Where the OpenID configuration really is. */
  readonly discoveryURL?: string
  /** PEM; the authorities of the system when absent. */
  readonly certificateAuthority?: string
  /** Of which a token must name one. */
  readonly audiences?: readonly string[]
  readonly audienceMatchPolicy?: string
}

export interface ClaimMappings {
  readonly username: PrefixedClaim
  readonly groups?: PrefixedClaim
  readonly uid?: ClaimOrExpression
  readonly extra?: readonly { readonly key: string; readonly valueExpression: string }[]
}

export interface ClaimOrExpression {
  readonly claim?: string
  readonly expression?: string
}

export interface PrefixedClaim extends ClaimOrExpression {
  readonly prefix?: string
}

export interface ClaimRule {
  readonly claim?: string
  readonly requiredValue?: string
  readonly expression?: string
  readonly message?: string
}

export interface UserRule {
  readonly expression: string
  readonly message?: string
}

/** A compiled CEL expression about a token. */
export interface ClaimsExpression {
  /** Throws an `Error` when it fails, or costs too much. */
  evaluate(value: unknown): unknown
  /** Whether it reads `claims.<field>`. */
  reads(field: string): boolean
}

/** What CEL is to tokens: `claims` is a map of anything, `user` has username, groups, uid and extra. */
export interface ExpressionCompiler {
  /** Throws an `Error` in the words of the compiler. */
  compile(expression: string, variable: 'claims' | 'user'): ClaimsExpression
}

/** How tokens of issuers may be signed: with a private key, in every way that is thought safe. */
export const signingAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512'],
]
