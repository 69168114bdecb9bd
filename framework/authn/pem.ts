import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { expiryOf } from '../async/expiry.ts'
import { certificatesOf } from './issuer.ts'

/** Whether a text begins with a certificate in PEM. */
export const isCertificate = (text: string): boolean => passes(() => expiryOf(text))

/** Whether a text has certificates in PEM, all of which can be read. */
export const isBundle = (text: string): boolean => passes(() => certificatesOf(text))

/** Whether TLS can use a certificate with a private key, both PEM. */
export const isPair = (tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>): boolean =>
  passes(() => createSecureContext(tls))

function passes(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}
