import type { JwtIssuer } from '../framework/authn/jwt/index.ts'
import { readFlagFile } from './files.ts'
import { StartError } from './starterror.ts'

/** The issuers of `--authentication-config`; none without it. Throws `StartError` with everything that is wrong. */
export async function readIssuers(
  path: string | undefined,
  forbidden: readonly string[],
): Promise<readonly JwtIssuer[]> {
  if (path === undefined) return []
  const yaml = await readFlagFile('--authentication-config', path)
  // Only who has issuers waits for what reads them.
  const [{ readAuthenticationConfig }, { tokenExpressions }] = await Promise.all([
    import('../framework/authn/jwt/index.ts'),
    import('../openapi/cel/tokenexpressions.ts'),
  ])
  try {
    const issuers = readAuthenticationConfig(yaml, { compiler: tokenExpressions, forbidden })
    for (const issuer of issuers) void issuer.prepare()
    return issuers
  } catch (error) {
    throw new StartError(`${path} cannot be used: ${(error as Error).message}.`)
  }
}
