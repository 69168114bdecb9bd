import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue, required, unsupported } from '../../framework/meta/fielderror.ts'
import { listErrors } from './lists.ts'
import {
  additionalOf,
  alternativesOf,
  findField,
  itemsOf,
  key,
  type RawSchema,
  type RawSchemaCheck,
} from './schema.ts'

/** The position of a schema, on which allowed keywords depend. */
interface Context {
  readonly root: boolean
  /** Inside of apiVersion, kind or metadata of an object or embedded resource. */
  readonly insideMeta: boolean
  /** Why defaults are forbidden; undefined if they are allowed. */
  readonly noDefaults?: string
}

/** Validates the keywords that Kubernetes forbids or restricts, node by node (rules.md 7.13, 7.15, 7.16). */
export function keywordErrors(
  schema: RawSchema,
  path: string,
  context: Context = { root: true, insideMeta: false },
): readonly FieldError[] {
  const below: Context = { ...context, root: false }
  const items = itemsOf(schema)
  return [
    ...ownErrors(schema, path, context),
    ...additionalErrors(schema, path, below),
    ...propertyErrors(schema, path, context),
    ...alternativesOf(schema, path).flatMap(([nested, at]) => keywordErrors(nested, at, below)),
    ...(items === undefined ? [] : keywordErrors(items, `${path}.items`, below)),
    ...listErrors(schema, path),
    ...ruleErrors(schema, path),
  ]
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

const refused = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const

function ownErrors(schema: RawSchema, path: string, context: Context): readonly FieldError[] {
  const { type = '' } = schema
  return [
    ...(type === '' || types.includes(type) ? [] : [unsupported(`${path}.type`, type, types)]),
    ...(schema.default !== undefined && schema.default !== null && context.noDefaults !== undefined
      ? [forbidden(`${path}.default`, `must not be set ${context.noDefaults}`)]
      : []),
    ...refused
      .filter(keyword => schema[keyword] !== undefined)
      .map(keyword => forbidden(`${path}.${keyword}`, `${keyword} is not supported`)),
    ...(type === 'null'
      ? [forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')]
      : []),
    ...(Array.isArray(schema.items)
      ? [forbidden(`${path}.items`, 'items must be a schema object and not an array')]
      : []),
    ...flagErrors(schema, path, context),
  ]
}

function flagErrors(schema: RawSchema, path: string, context: Context): readonly FieldError[] {
  const preserve = 'x-kubernetes-preserve-unknown-fields'
  const embedded = 'x-kubernetes-embedded-resource'
  return [
    ...(context.insideMeta && schema[embedded] === true
      ? [forbidden(`${path}.${embedded}`, 'must not be used inside of resource meta')]
      : []),
    ...(schema.uniqueItems === true
      ? [
          forbidden(
            `${path}.uniqueItems`,
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...(schema[preserve] === false
      ? [invalidValue(`${path}.${preserve}`, false, 'must be true or undefined')]
      : []),
    ...(context.root && schema.nullable === true
      ? [forbidden(`${path}.nullable`, 'nullable cannot be true at the root')]
      : []),
  ]
}

function additionalErrors(schema: RawSchema, path: string, below: Context): readonly FieldError[] {
  const { additionalProperties } = schema
  if (additionalProperties === undefined) return []
  const at = `${path}.additionalProperties`
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0
  const additional = additionalOf(schema)
  const reason = below.insideMeta
    ? 'inside additionalProperties applying to object metadata'
    : below.noDefaults
  return [
    ...(hasProperties && additionalProperties !== true
      ? [forbidden(at, 'additionalProperties and properties are mutual exclusive')]
      : []),
    ...(additional === undefined
      ? []
      : keywordErrors(additional, at, reason === undefined ? below : { ...below, noDefaults: reason })),
  ]
}

const metaFields = ['metadata', 'kind', 'apiVersion']

function propertyErrors(schema: RawSchema, path: string, context: Context): readonly FieldError[] {
  const isObjectRoot = context.root || schema['x-kubernetes-embedded-resource'] === true
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inMeta = isObjectRoot && metaFields.includes(name)
    return keywordErrors(property, key(`${path}.properties`, name), {
      ...context,
      root: false,
      insideMeta: context.insideMeta || inMeta,
      ...(inMeta && context.root ? { noDefaults: `in top-level ${name}` } : {}),
    })
  })
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const hasNewline = (text: string): boolean => /[\n\r]/.test(text)

/** Validates the fields of CEL rules, without compiling them. */
const ruleErrors: RawSchemaCheck = (schema, path) =>
  (schema['x-kubernetes-validations'] ?? []).flatMap((given, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`
    const { rule = '', message = '', messageExpression = '', reason } = given
    return [
      ...textErrors(at, rule, message),
      ...(messageExpression !== '' && messageExpression.trim() === ''
        ? [required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified')]
        : []),
      ...(reason === undefined || reasons.includes(reason)
        ? []
        : [unsupported(`${at}.reason`, reason, reasons)]),
      ...fieldPathErrors(schema, `${at}.fieldPath`, given.fieldPath ?? ''),
    ]
  })

function textErrors(at: string, rule: string, message: string): readonly FieldError[] {
  const trimmed = message.trim()
  if (rule.trim() === '') return [required(`${at}.rule`, 'rule is not specified')]
  if (message !== '' && trimmed === '')
    return [invalidValue(`${at}.message`, message, 'must be non-empty if specified')]
  if (hasNewline(trimmed)) return [invalidValue(`${at}.message`, message, 'must not contain line breaks')]
  return hasNewline(rule.trim()) && trimmed === ''
    ? [required(`${at}.message`, 'message must be specified if rule contains line breaks')]
    : []
}

function fieldPathErrors(schema: RawSchema, at: string, path: string): readonly FieldError[] {
  if (path === '') return []
  return [
    ...(path.trim() === '' ? [invalidValue(at, path, 'must be non-empty if specified')] : []),
    ...(hasNewline(path) ? [invalidValue(at, path, 'must not contain line breaks')] : []),
    ...(typeof findField(path, schema, true) === 'string'
      ? [invalidValue(at, path, 'must be a valid path')]
      : []),
  ]
}
