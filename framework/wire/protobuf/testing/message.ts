/** One field: its number, and its value or the fields of a nested message. */
export type Part = readonly [number: number, value: string | number | boolean | Buffer | readonly Part[]]

/** Encodes fields as Go does: integers as varints, all others with their length. */
export function encode(parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map(([number, value]) => {
      if (typeof value === 'number' || typeof value === 'boolean')
        return Buffer.concat([varint(BigInt(number << 3)), varint(BigInt.asUintN(64, BigInt(value)))])
      const bytes = Array.isArray(value) ? encode(value) : Buffer.from(value as string)
      return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes])
    }),
  )
}

function varint(value: bigint): Buffer {
  const bytes = []
  for (; value > 0x7fn; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(value)])
}

/** A message of Kubernetes with its envelope. */
export const object = (apiVersion: string, kind: string, fields: readonly Part[]): Buffer => {
  const type: Part = [
    1,
    [
      [1, apiVersion],
      [2, kind],
    ],
  ]
  return Buffer.concat([Buffer.from('k8s\0'), encode([type, [2, encode(fields)], [3, ''], [4, '']])])
}
