import { isIPv4 } from 'node:net'

/** The 4 or 16 bytes of an IP address. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // A URL has the address in the form of groups only, as few as possible.
  const [head = '', tail] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = [...before, ...zeros, ...after]
  return Buffer.from(groups.map(group => group.padStart(4, '0')).join(''), 'hex')
}
