/** Where a row is tested: a file or a folder, and words of the titles of its tests. Or, in one line, why it cannot be. */
export type Places = readonly (readonly [file: string, ...titles: readonly string[]])[] | string

export const e2e = (name: string): string => `test/e2e/${name}.test.ts`
export const cases = (name: string): string => `test/cases/${name}.test.ts`
export const attacks = 'test/e2e/attacks'
export const list = [e2e('attacklist'), 'fails at the'] as const
export const outbound = 'framework/net/outbound.test.ts'
export const jwt = 'framework/authn/jwt/jwt.test.ts'
export const chain = 'authz/chain/chain.test.ts'
export const impersonation = 'framework/impersonation/impersonate.test.ts'
export const identity = e2e('identityattacks')
export const life = 'test/e2e/lifecycle'
export const inAuthorizer = (...titles: readonly string[]): Places => [['test/cases/authorizer', ...titles]]
export const inAuthentication = (...titles: readonly string[]): Places => [
  [cases('authentication'), ...titles],
]
export const inExport = (...titles: readonly string[]): Places => [['test/cases/apiexport', ...titles]]
