import { kindFields, type MessageField, messageFields } from '../wire/protobuf/fields.ts'

/** A member of a Go struct, as Go's decoder of JSON names it. */
export interface Member {
  /** The innermost struct, and the path from the outermost: `PolicyRule.rules.verbs`. */
  readonly name: string
  readonly type: string
}

/** Go's name for the value at a path such as `rules[0].verbs`; undefined where the kind has no table. */
export function memberAt(group: string, kind: string, path: string): Member | undefined {
  const names: string[] = []
  let struct = kind
  let fields = kindFields(group, kind)
  const segments = path.split('.')
  for (const [index, segment] of segments.entries()) {
    const [, name = '', item] = /^([\w$-]+)(\[\d+\])?$/.exec(segment) ?? []
    const field = [...(fields?.values() ?? [])].find(each => each.name === name)
    if (field === undefined) return undefined
    names.push(name)
    const isInside = item !== undefined || (field.shape === 'map' && index + 1 < segments.length)
    // Keys of maps are not struct members.
    if (index + 1 === segments.length || field.shape === 'map')
      return { name: `${struct}.${names.join('.')}`, type: goType(field, isInside) }
    struct = field.type
    fields = messageFields(struct)
  }
  return undefined
}

const types: Readonly<Record<string, string>> = { text: 'string', int: 'int32', bytes: '[]uint8' }
const long = new Set(['generation', 'observedGeneration', 'gracePeriodSeconds', 'expirationSeconds'])

function goType({ name, type, shape }: MessageField, isInside: boolean): string {
  const message = messageFields(type) === undefined ? (types[type] ?? type) : `v1.${type}`
  const one = type === 'int' && long.has(name) ? 'int64' : message
  if (isInside || shape === 'one') return one
  return shape === 'list' ? `[]${one}` : `map[string]${one}`
}
