import { bearers, type IdentityHeaders, tokenAuthenticator } from '../../framework/authn/index.ts'
import type { Authenticator } from '../../framework/request/authenticator.ts'
import type { Server } from '../../framework/server/server.ts'
import type { ShardConnection } from '../../remote/connection/connection.ts'
import { tokenReviews } from '../../remote/connection/tokenreview.ts'
import { audience, following, identityHeadersOf } from '../authentication/authentication.ts'
import { type Authorities, followAuthorities, readAuthorities } from '../certificates/authorities.ts'
import type { ViewSetup } from './viewsetup.ts'

/** Authentication by client certificates, headers of front proxies, and tokens that the shard reviews. */
export interface ViewAuthentication {
  readonly authenticator: Authenticator
  readonly identityHeaders: IdentityHeaders
  authorities(): Authorities
  /** Reloads the certificate authorities when their files change. */
  follow(server: Pick<Server, 'useCertificate'>): void
}

/** Reads the files of the flags. Throws `StartError` on invalid ones. */
export async function openAuthentication(
  { flags, log, signal }: ViewSetup,
  reviewer: ShardConnection,
): Promise<ViewAuthentication> {
  let current = await readAuthorities(flags)
  const authorities = (): Authorities => current
  const identityHeaders = identityHeadersOf(flags)
  const proxied = { allowedNames: flags.requestheaderAllowedNames ?? [], headers: identityHeaders }
  const bearer = bearers(tokenAuthenticator([tokenReviews(reviewer)], [audience]))
  const use = (next: Authorities): void => {
    current = next
  }
  return {
    authenticator: following(authorities, bearer, proxied),
    identityHeaders,
    authorities,
    follow: server => followAuthorities({ flags, current: authorities, use, server, log, signal }),
  }
}
