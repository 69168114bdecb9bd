/**
 * `jwt[]` of an AuthenticationConfiguration (apiserver.config.k8s.io) or of a WorkspaceAuthenticationConfiguration: one
 * issuer.
 */
export interface JwtConfig {
  readonly issuer: IssuerConfig
  readonly claimMappings: ClaimMappings
  readonly claimValidationRules?: readonly ClaimRule[]
  readonly userValidationRules?: readonly UserRule[]
}

export interface IssuerConfig {
  /** `iss` of its tokens; the base URL of its OpenID configuration. */
  readonly url: string
  /** The URL of the OpenID configuration, if it is different. */
  readonly discoveryURL?: string
  /** PEM; the authorities of the system if absent. */
  readonly certificateAuthority?: string
  /** A token must have one of them. */
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
  /** Between the turns of other work. Rejects with an `Error` if it fails, exceeds the cost limit or uses up the budget. */
  evaluate(value: unknown, budget: ClaimsBudget): Promise<unknown>
  /** Whether it reads `claims.<field>`. */
  reads(field: string): boolean
}

/** What is left for all expressions about one token together. */
export interface ClaimsBudget {
  /** In units of CEL. */
  cost: number
  /** Steps of work that the cost leaves out. */
  readonly effort: { left: number }
}

/** Compiles CEL expressions: `claims` is a map, `user` has username, groups, uid and extra. */
export interface ExpressionCompiler {
  /** Throws an `Error` with the message of the compiler. */
  compile(expression: string, variable: 'claims' | 'user'): ClaimsExpression
  /** The budget of one token. */
  newBudget(): ClaimsBudget
}

/** The accepted algorithms of tokens: asymmetric ones that are considered secure. */
export const signingAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512'],
]
