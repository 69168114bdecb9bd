import type { ServiceAccountKeys } from '../../framework/authn/index.ts'
import type { Pages } from '../../framework/contract/pages.ts'
import type { Answer } from '../../framework/request/response.ts'

/** OpenID discovery document and keys, with which other servers verify service account tokens, as in Kubernetes. */
export const openIdPages = ({ issuer, keys }: ServiceAccountKeys, publicUrl: string): Pages =>
  new Map([
    [
      '/.well-known/openid-configuration',
      async () =>
        json('application/json', {
          issuer,
          jwks_uri: `${publicUrl}/openid/v1/jwks`,
          response_types_supported: ['id_token'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: keys.algorithms,
        }),
    ],
    ['/openid/v1/jwks', async () => json('application/jwk-set+json', await keys.published())],
  ])

const json = (contentType: string, document: unknown): Answer => ({
  status: 200,
  contentType,
  headers: { 'cache-control': 'public, max-age=3600' },
  body: Buffer.from(JSON.stringify(document)),
})
