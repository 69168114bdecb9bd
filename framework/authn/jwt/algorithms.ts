/** How tokens of issuers may be signed: with a private key, in every way that is thought safe. */
export const signingAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512'],
]
