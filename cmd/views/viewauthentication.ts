import { bearers, type IdentityHeaders, tokenAuthenticator } from '../../framework/authn/index.ts'
import type { Authenticator } from '../../framework/request/authenticator.ts'
import type { Server } from '../../framework/server/server.ts'
import type { ShardConnection } from '../../remote/connection/connection.ts'
import { tokenReviews } from '../../remote/connection/tokenreview.ts'
import { audience, following, identityHeadersOf } from '../authentication/authentication.ts'
import { type Authorities, allAuthorities, readAuthorities } from '../certificates/authorities.ts'
import { follow } from '../files/follow.ts'
import type { ViewSetup } from './viewsetup.ts'

/** Who is known: by certificate, by word of a front proxy, and by a token that the shard knows. */
export interface ViewAuthentication {
  readonly authenticator: Authenticator
  readonly identityHeaders: IdentityHeaders
  authorities(): Authorities
  /** Believes from now on whom the files become. */
  follow(server: Pick<Server, 'useCertificate'>): void
}

/** Throws `StartError` on bad files. */
export async function openAuthentication(
  { flags, log, signal }: ViewSetup,
  reviewer: ShardConnection,
): Promise<ViewAuthentication> {
  const read = () => readAuthorities(flags)
  let current = await read()
  const identityHeaders = identityHeadersOf(flags)
  const proxied = { allowedNames: flags.requestheaderAllowedNames ?? [], headers: identityHeaders }
  const bearer = bearers(tokenAuthenticator([tokenReviews(reviewer)], [audience]))
  const authorities = (): Authorities => current
  const use = (server: Pick<Server, 'useCertificate'>, next: Authorities): void => {
    const clientCA = allAuthorities(next)
    if (clientCA !== undefined) server.useCertificate({ clientCA })
    current = next
  }
  return {
    authenticator: following(authorities, bearer, proxied),
    identityHeaders,
    authorities,
    follow: server =>
      follow({
        what: 'set of client authorities',
        current,
        read,
        use: next => use(server, next),
        log,
        signal,
      }),
  }
}
