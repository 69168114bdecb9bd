export type CelKind =
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
  /** A type parameter. */
  | 'param'

export interface CelType {
  readonly kind: CelKind
  /** The name of `type(x)`: `google.protobuf.Timestamp`. */
  readonly name: string
  readonly params: readonly CelType[]
  /** Whether it is or contains a type parameter. Types of nested macros are deep, and most have none. */
  readonly isGeneric: boolean
}

/** A type with other parameters. */
export const typeWith = (
  { kind, name }: Pick<CelType, 'kind' | 'name'>,
  params: readonly CelType[],
): CelType => ({
  kind,
  name,
  params,
  isGeneric: kind === 'param' || params.some(param => param.isGeneric),
})

const simple = (kind: CelKind, name: string = kind): CelType => typeWith({ kind, name }, [])

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

export const listOf = (item: CelType): CelType => typeWith({ kind: 'list', name: 'list' }, [item])
export const mapOf = (key: CelType, value: CelType): CelType =>
  typeWith({ kind: 'map', name: 'map' }, [key, value])
export const typeOfType = (type: CelType): CelType => typeWith({ kind: 'type', name: 'type' }, [type])
export const opaqueType = (name: string, ...params: readonly CelType[]): CelType =>
  typeWith({ kind: 'opaque', name }, params)
export const optionalOf = (type: CelType): CelType => opaqueType('optional_type', type)
export const structType = (name: string): CelType => simple('struct', name)
export const paramType = (name: string): CelType => simple('param', name)

export const isOptional = ({ kind, name }: CelType): boolean => kind === 'opaque' && name === 'optional_type'

/** A parameter of a list, map, optional or type; dyn if absent. */
export const paramOf = (type: CelType, index = 0): CelType => type.params[index] ?? dynType

export const sameType = (a: CelType, b: CelType): boolean =>
  a === b ||
  (a.kind === b.kind &&
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, i) => sameType(param, paramOf(b, i))))

const spoken: Partial<Record<CelKind, string>> = {
  duration: 'duration',
  timestamp: 'timestamp',
  null: 'null',
  error: '!error!',
}

/** The type in error messages: `map(string, list(int))`. */
export function typeText({ kind, name, params }: CelType): string {
  const known = spoken[kind] ?? name
  return params.length === 0 ? known : `${known}(${params.map(typeText).join(', ')})`
}

/** Reserved words of CEL. */
const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
)

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** The escaped name of a field (rules.md 7.32); undefined for fields that expressions cannot access. */
export function escapedName(field: string): string | undefined {
  if (!/^[a-zA-Z_./-][\w./-]*$/.test(field)) return undefined
  if (reserved.has(field)) return `__${field}__`
  return field.replace(/__|[-./]/g, found => escapes[found] ?? found)
}
