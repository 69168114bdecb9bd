import type { CelKind, CelType } from './type.ts'
import {
  CelDuration,
  CelError,
  CelTimestamp,
  type CelValue,
  Double,
  isList,
  isMap,
  isOpaque,
  Optional,
  StructValue,
  TypeValue,
  Uint,
} from './value.ts'

/** The kind of a value. */
export function kindOf(value: CelValue): CelKind {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
    case 'bigint':
      return 'int'
    case 'boolean':
      return 'bool'
    default:
      return value === null ? 'null' : objectKind(value)
  }
}

function objectKind(value: Exclude<CelValue, string | number | bigint | boolean | null>): CelKind {
  if (isList(value)) return 'list'
  if (isMap(value)) return 'map'
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof CelTimestamp) return 'timestamp'
  if (value instanceof CelDuration) return 'duration'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof StructValue) return 'struct'
  if (value instanceof CelError) return 'error'
  return value instanceof Optional || isOpaque(value) ? 'opaque' : 'dyn'
}

const names: Partial<Record<CelKind, string>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
}

/** The name of `type(value)`. */
export function typeNameOf(value: CelValue): string {
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof StructValue) return value.type
  if (isOpaque(value)) return value.opaque.name
  const kind = kindOf(value)
  return names[kind] ?? kind
}

/** Whether a value is of a type. The items of lists and maps are not checked. */
export function isOfType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true
    case 'string':
      return typeof value === 'string'
    case 'int':
      return typeof value === 'number' || typeof value === 'bigint'
    case 'opaque':
      return typeNameOf(value) === type.name
    default:
      return kindOf(value) === type.kind
  }
}
