export type Kind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  | 'list'
  | 'map'
  | 'type'
  /** A type of a library, such as optional_type. */
  | 'opaque'
  /** An object with fields. */
  | 'struct'
  /** A type that is not known yet. */
  | 'param'

export interface Type {
  readonly kind: Kind
  /** What `type(x)` shows: `google.protobuf.Timestamp`. */
  readonly name: string
  readonly params: readonly Type[]
}

const simple = (kind: Kind, name: string = kind): Type => ({ kind, name, params: [] })

export const dynType = simple('dyn')
export const errorType = simple('error', '*error*')
export const nullType = simple('null', 'null_type')
export const boolType = simple('bool')
export const intType = simple('int')
export const uintType = simple('uint')
export const doubleType = simple('double')
export const stringType = simple('string')
export const bytesType = simple('bytes')
export const durationType = simple('duration', 'google.protobuf.Duration')
export const timestampType = simple('timestamp', 'google.protobuf.Timestamp')
export const typeType = simple('type')

export const listOf = (item: Type): Type => ({ kind: 'list', name: 'list', params: [item] })
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', name: 'map', params: [key, value] })
export const typeOfType = (type: Type): Type => ({ kind: 'type', name: 'type', params: [type] })
export const opaqueType = (name: string, ...params: readonly Type[]): Type => ({
  kind: 'opaque',
  name,
  params,
})
export const optionalOf = (type: Type): Type => opaqueType('optional_type', type)
export const structType = (name: string): Type => simple('struct', name)
export const paramType = (name: string): Type => simple('param', name)

export const isOptional = ({ kind, name }: Type): boolean => kind === 'opaque' && name === 'optional_type'

/** The parameter of a list, an optional or a type; dyn where there is none. */
export const paramOf = (type: Type, index = 0): Type => type.params[index] ?? dynType

export const sameType = (a: Type, b: Type): boolean =>
  a === b ||
  (a.kind === b.kind &&
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, i) => sameType(param, paramOf(b, i))))

const spoken: Partial<Record<Kind, string>> = {
  duration: 'duration',
  timestamp: 'timestamp',
  null: 'null',
  error: '!error!',
}

/** As error messages show it: `map(string, list(int))`. */
export function typeText({ kind, name, params }: Type): string {
  const known = spoken[kind] ?? name
  return params.length === 0 ? known : `${known}(${params.map(typeText).join(', ')})`
}
