import { isObject } from '../jwt.ts'

/** The type of a value: a string, a boolean, a list, or an object with these fields. */
export type ConfigShape =
  | 'string'
  | 'boolean'
  | readonly [ConfigShape]
  | { readonly [field: string]: ConfigShape }

/** The misfits: `unknown field "jwt[0].isuer"`, `jwt: not a list`. Absent values and null always fit. */
export function unknownFields(value: unknown, shape: ConfigShape, path = ''): readonly string[] {
  if (value === undefined || value === null) return []
  if (typeof shape === 'string') return typeof value === shape ? [] : [`${path}: not a ${shape}`]
  if (isList(shape)) {
    const [element] = shape
    if (!Array.isArray(value)) return [`${path}: not a list`]
    return value.flatMap((entry, i) => unknownFields(entry, element, `${path}[${i}]`))
  }
  if (!isObject(value)) return [`${path}: not an object`]
  return Object.entries(value).flatMap(([field, inner]) => {
    const at = path === '' ? field : `${path}.${field}`
    const expected = shape[field]
    return expected === undefined
      ? [`unknown field ${JSON.stringify(at)}`]
      : unknownFields(inner, expected, at)
  })
}

const isList = (shape: ConfigShape): shape is readonly [ConfigShape] => Array.isArray(shape)

const text: ConfigShape = 'string'
const claimOrExpression: ConfigShape = { claim: text, expression: text }
const prefixedClaim: ConfigShape = { claim: text, expression: text, prefix: text }

/** The fields of one entry of `jwt`. */
export const jwtShape: ConfigShape = {
  issuer: {
    url: text,
    discoveryURL: text,
    certificateAuthority: text,
    audiences: [text],
    audienceMatchPolicy: text,
  },
  claimMappings: {
    username: prefixedClaim,
    groups: prefixedClaim,
    uid: claimOrExpression,
    extra: [{ key: text, valueExpression: text }],
  },
  claimValidationRules: [{ claim: text, requiredValue: text, expression: text, message: text }],
  userValidationRules: [{ expression: text, message: text }],
}
