import { additionalOf, type RawSchema } from './schema.ts'

/** Where a path such as `.spec.color` or `['a.b']` leads in a schema. */
export interface FoundField {
  /** The names on the way. */
  readonly names: readonly string[]
  readonly schema: RawSchema
}

/** Fields, brackets, and quoted text: everything between them is a name. */
const tokens = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g

/**
 * Follows a path of fields through the structural part of a schema: the field, or what is wrong in the words of
 * Kubernetes. `brackets` says whether `['name']` may be used.
 */
export function findField(path: string, schema: RawSchema, brackets: boolean): FoundField | string {
  const parts = path.match(tokens) ?? []
  let found: FoundField = { names: [], schema }
  for (let at = 0; at < parts.length; ) {
    const step = readName(parts, at, brackets)
    if ('problem' in step) return step.problem
    const next = below(found.schema, step.name)
    if (next === undefined) return 'does not refer to a valid field'
    found = { names: [...found.names, step.name], schema: next }
    at = step.next
  }
  return found
}

type NameStep = { readonly name: string; readonly next: number } | { readonly problem: string }

function readName(parts: readonly string[], at: number, brackets: boolean): NameStep {
  const [start, name, end] = parts.slice(at, at + 3)
  if (start === '.')
    return name === undefined ? { problem: 'unexpected end of JSON path' } : { name, next: at + 2 }
  if (start !== '[') return { problem: `expected [ or . but got: ${start}` }
  if (!brackets) return { problem: 'array notation is not allowed' }
  if (name === undefined || end === undefined) return { problem: 'unexpected end of JSON path' }
  if (!/^'.*'$/s.test(name)) return { problem: `expected single quoted string but got ${name}` }
  if (end !== ']') return { problem: `expected ] but got ${end}` }
  return { name: name.slice(1, -1).replace(/\\(.)/gs, '$1'), next: at + 3 }
}

const below = (schema: RawSchema, name: string): RawSchema | undefined =>
  schema.properties === undefined
    ? additionalOf(schema)
    : Object.hasOwn(schema.properties, name)
      ? schema.properties[name]
      : undefined
