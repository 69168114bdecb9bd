import type { Said } from './step.ts'

type Fields = Record<string, unknown>

/** Fields that each server sets itself, by name. */
const ownFields: Readonly<Record<string, string>> = {
  uid: '<uid>',
  resourceVersion: '<version>',
  creationTimestamp: '<time>',
  deletionTimestamp: '<time>',
  time: '<time>',
  continue: '<token>',
  token: '<token>',
  expirationTimestamp: '<time>',
  'kcp.io/path': '<path>',
  'kcp.io/cluster': '<cluster>',
  // A hash of the name of the logical cluster of the export.
  'internal.apis.kcp.io/export': '<export>',
}

/** The body of a response without values that each server sets itself: two servers that agree give equal values. */
export function comparable(body: unknown, said: Said): unknown {
  const { kind } = (body ?? {}) as Fields
  const neutral = neutralized(body, said)
  return kind === 'Status' ? unordered(neutral as Fields) : neutral
}

function neutralized(value: unknown, said: Said): unknown {
  if (typeof value === 'string')
    return value
      .replaceAll(said.uid, '<uid>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '<uid>')
      .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/Invalid value: "\{.*\}":/s, 'Invalid value: <object>:')
      .replace(/(?<=: errors:\n).*/s, lines => lines.split('\n').sort().join('\n'))
      .replace(/((?:Bad|gen|Gen)[-._x]*)[a-z0-9]{5}\b/g, '$1<suffix>')
      .replace(/in scheme \\?"[^"]*"/, 'in a scheme')
      .replace(/in record \(\d+\)/, 'in record (<version>)')
  if (Array.isArray(value)) return value.map(item => neutralized(item, said))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      ownFields[name] !== undefined && typeof field === 'string' && field !== ''
        ? ownFields[name]
        : neutralized(timeless(name, field), said),
    ]),
  )
}

/** Go iterates maps in random order: causes are a set, and a message that joins several of them is compared by them. */
function unordered(status: Fields): Fields {
  const details = status.details as { causes?: readonly unknown[] } | undefined
  const causes = details?.causes
  if (causes === undefined) return status
  const sorted = [...new Set(causes.map(cause => JSON.stringify(cause)))].sort()
  const message = causes.length > 1 ? '<causes>' : status.message
  return { ...status, message, details: { ...details, causes: sorted } }
}

/** Removes ages from cells of a row, and orders managedFields by name instead of by time. */
function timeless(name: string, field: unknown): unknown {
  if (!Array.isArray(field)) return field
  if (name === 'managedFields')
    return [...field].sort((one, other) => (ownerIn(one) < ownerIn(other) ? -1 : 1))
  return name === 'cells' ? ageless(field) : field
}

const ownerIn = (entry: unknown): string => {
  const { manager, operation, subresource } = (entry ?? {}) as Fields
  return JSON.stringify([manager, operation, subresource])
}

const ageless = (cells: readonly unknown[]): unknown =>
  cells.map(cell => (/^(\d+[smhdy])+$/.test(String(cell)) ? '<age>' : cell))
