import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** The values of `params` in the expressions of a View, by name. */
export type ExpressionParams = Readonly<Record<string, unknown>>

const mostBytes = 8_192

/** A mistake in a parameter. `name`: '' for all together. */
export interface ParamProblem {
  readonly name: string
  readonly problem: string
}

export function paramProblems(params: ExpressionParams): readonly ParamProblem[] {
  const found = Object.entries(params).flatMap(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      return [
        { name, problem: 'the name must have letters, digits and "_" only, and not begin with a digit' },
      ]
    if (schemaOfValue(value) !== undefined) return []
    return [{ name, problem: 'must be a string, a number, a Boolean, or a list of one of them' }]
  })
  const length = Buffer.byteLength(JSON.stringify(params))
  return length <= mostBytes
    ? found
    : [...found, { name: '', problem: `must have at most ${mostBytes} bytes as JSON` }]
}

/** The schema of the parameters, from their values. Those with a problem are left out. */
export const paramsSchema = (params: ExpressionParams): JSONSchemaProps => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => {
      const schema = schemaOfValue(value)
      return schema === undefined ? [] : [[name, schema]]
    }),
  ),
})

function schemaOfValue(value: unknown): JSONSchemaProps | undefined {
  if (!Array.isArray(value)) return schemaOfScalar(value)
  const [first = { type: 'string' } as const, ...others] = value.map(schemaOfScalar)
  if (value.length > 0 && value.every(item => typeof item === 'number'))
    return { type: 'array', items: value.every(Number.isSafeInteger) ? integer : { type: 'number' } }
  const isSame = first !== undefined && others.every(other => other?.type === first.type)
  return isSame && schemaOfScalar(value[0] ?? '') !== undefined ? { type: 'array', items: first } : undefined
}

const integer: JSONSchemaProps = { type: 'integer', format: 'int64' }

function schemaOfScalar(value: unknown): JSONSchemaProps | undefined {
  if (typeof value === 'string') return { type: 'string' }
  if (typeof value === 'boolean') return { type: 'boolean' }
  if (typeof value !== 'number') return undefined
  return Number.isSafeInteger(value) ? integer : { type: 'number' }
}
