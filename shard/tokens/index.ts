import type { TokenAuthenticator, TokenIssuer } from '../../framework/authn/index.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { ShardOptions } from '../controllers/host.ts'
import { secretTokenController } from './secrettokens.ts'
import { tokenSubresource } from './tokenrequest.ts'
import { tokenReviewStorage } from './tokenreview.ts'

export interface TokenOptions {
  readonly issuer: TokenIssuer
  /** Authenticates tokens with the objects of this shard. */
  readonly tokens: (informers: Informers) => TokenAuthenticator
  /** PEM: the CA with which clients in workspaces verify the server. */
  readonly rootCA: string
}

/** The options of `openShard` with which a shard issues and reviews tokens of service accounts. */
export const tokenParts = ({
  issuer,
  tokens,
  rootCA,
}: TokenOptions): Required<Pick<ShardOptions, 'subresources' | 'reviews' | 'controllers'>> => ({
  subresources: informers => ({ serviceaccounts: [tokenSubresource(informers, issuer)] }),
  reviews: (_authorizer, informers) => ({
    'tokenreviews.authentication.k8s.io': tokenReviewStorage(tokens(informers)),
  }),
  controllers: ({ client, informers, log }) => [
    secretTokenController({ client, informers, log, issuer, rootCA }),
  ],
})
