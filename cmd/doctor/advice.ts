import { codeOf } from '../files/starterror.ts'

/** What went wrong with a server, and what mends it. `where`: which setting names the server. */
export interface Advice {
  readonly problem: string
  readonly change: string
}

type Words = (where: string) => Advice

const unknownAuthority: Words = where => ({
  problem: 'its certificate is of an authority that nobody here knows',
  change: `give the authority that has issued it: certificate-authority of the kubeconfig, or serve ${where} with another certificate`,
})

const words: Readonly<Record<string, Words>> = {
  ECONNREFUSED: where => ({
    problem: 'nothing listens there',
    change: `start the server, or correct ${where}`,
  }),
  ENOTFOUND: where => ({ problem: 'there is no such host', change: `correct the host in ${where}, or DNS` }),
  EAI_AGAIN: where => ({
    problem: 'its name cannot be resolved',
    change: `look at DNS, or correct the host in ${where}`,
  }),
  CERT_HAS_EXPIRED: () => ({
    problem: 'its certificate has expired',
    change: 'renew the serving certificate',
  }),
  CERT_NOT_YET_VALID: () => ({
    problem: 'its certificate is not valid yet',
    change: 'look at the clocks of both machines, or renew the serving certificate',
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: where => ({
    problem: 'its certificate is for other names',
    change: `use one of its names in ${where}, or issue a certificate for this one`,
  }),
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: () => ({
    problem: 'it does not know the authority of the client certificate',
    change: 'issue a client certificate of an authority in its --client-ca-file, or add that authority there',
  }),
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: () => ({
    problem: 'the client certificate has expired',
    change: 'renew the client certificate in the kubeconfig',
  }),
  ERR_SSL_WRONG_VERSION_NUMBER: where => ({ problem: 'it does not speak TLS', change: `correct ${where}` }),
  EPROTO: where => ({ problem: 'it does not speak TLS', change: `correct ${where}` }),
}

export const adviceOn = (code: string, where: string): Advice =>
  words[code]?.(where) ?? {
    problem: `it cannot be used (${code || 'no answer'})`,
    change: `look whether ${where} is right, and whether a firewall lies between`,
  }

export const adviceFor = (error: unknown, where: string): Advice => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return adviceOn(codeOf(error) || codeOf(cause) || (error as Error).name, where)
}
