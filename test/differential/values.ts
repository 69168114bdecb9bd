import { lazyPattern } from '../../framework/formats/pattern.ts'
import type { Random } from '../model/random.ts'

/** The parts of a structural schema from which values are generated. */
export interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly minItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: string
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
}

const words = [
  'a',
  'b.example.com',
  'example.com',
  '/path',
  '1h',
  '80',
  'Exact',
  'http://example.com',
  'A b',
  '',
]
const wrong: readonly unknown[] = ['text', 7, true, null, [], {}, 1.5, -1]
/** Upstream accepts a list for a string with a format; here it is refused. */
const wrongForTexts = wrong.filter(value => !Array.isArray(value))

/** Any value that a schema may accept; one in thirty is of another type. */
export function anyValue(schema: Schema, random: Random, depth = 0): unknown {
  if (random.chance(1 / 30)) return random.pick(schema.format === undefined ? wrong : wrongForTexts)
  if (schema.enum !== undefined && !random.chance(1 / 20)) return random.pick(schema.enum)
  if (schema['x-kubernetes-int-or-string']) return random.pick([80, '80', 'http', '10%'])
  switch (schema.type) {
    case 'object':
      return objectOf(schema, random, depth)
    case 'array':
      return itemsOf(schema, random, depth)
    case 'integer':
      return (schema.minimum ?? 0) + random.number(random.chance(0.9) ? 5 : 100_000)
    case 'number':
      return random.pick([0, 1, 2.5, -3])
    case 'boolean':
      return random.chance(0.5)
    default:
      return schema['x-kubernetes-preserve-unknown-fields']
        ? { anything: random.number(9) }
        : textOf(schema, random)
  }
}

function objectOf(schema: Schema, random: Random, depth: number): object {
  const required = new Set(schema.required)
  const chosen = Object.entries(schema.properties ?? {}).filter(([name]) =>
    required.has(name) ? random.chance(0.97) : random.chance(0.5 / (depth + 1)),
  )
  const fields = chosen.map(([name, field]) => [name, anyValue(field, random, depth + 1)])
  const free = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  if (free !== undefined && random.chance(0.5)) fields.push(['free', anyValue(free, random, depth + 1)])
  if (random.chance(1 / 25)) fields.push(['unknownField', 1])
  return Object.fromEntries(fields)
}

function itemsOf(schema: Schema, random: Random, depth: number): unknown[] {
  const length = Math.max(random.chance(0.95) ? (schema.minItems ?? 0) : 0, random.number(3))
  return Array.from({ length }, () => anyValue(schema.items ?? {}, random, depth + 1))
}

function textOf({ pattern, format }: Schema, random: Random): string {
  if (format === 'date-time') return random.pick(['2026-11-21T10:00:00Z', 'yesterday'])
  if (format === 'byte') return random.pick(['YQ==', '!'])
  const fitting = pattern === undefined ? words : words.filter(word => lazyPattern(pattern).test(word))
  return random.pick(fitting.length > 0 && random.chance(0.9) ? fitting : words)
}
