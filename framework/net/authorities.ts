/**
 * Certificates in the authorities of a server. Reading one takes 0.1 to 0.25 milliseconds, for each connection, in one step. Bundles of operating
 * systems have less than 150.
 */
const most = 150

/** Why the authorities of a server that a tenant names, in PEM, are not read; undefined if they may be. */
export function authoritiesProblem(pem: string): string | undefined {
  let count = 0
  for (let at = pem.indexOf('-----BEGIN '); at >= 0; at = pem.indexOf('-----BEGIN ', at + 1)) count++
  return count > most ? `must have at most ${most} certificates, but has ${count}` : undefined
}
