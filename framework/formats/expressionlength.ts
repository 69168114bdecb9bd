/**
 * Characters of the expressions of one object of a tenant, which are compiled in one step: some tens of milliseconds,
 * and 64 bytes for each.
 */
export const mostExpressionCharacters = 16_384
/** What an expression counts for besides its characters. */
export const perExpression = 100

/** The characters for which expressions count together. */
export const expressionLength = (expressions: readonly string[]): number =>
  expressions.reduce((sum, { length }) => sum + length + perExpression, 0)
