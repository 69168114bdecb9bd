import type { Steps } from '../../framework/json/json.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue, required, unsupported } from '../../framework/meta/fielderror.ts'
import type { ValidationRule } from '../../framework/meta/jsonschema.ts'
import { checkLists } from './lists.ts'
import {
  additionalOf,
  alternativesOf,
  findField,
  itemsOf,
  key,
  members,
  type RawSchema,
  type SchemaWalk,
} from './schema.ts'

/** The position of a schema, on which allowed keywords depend. */
interface Context {
  readonly root: boolean
  /** Inside of apiVersion, kind or metadata of an object or embedded resource. */
  readonly insideMeta: boolean
  /** Why defaults are forbidden; undefined if they are allowed. */
  readonly noDefaults?: string
}

const ofRoot: Context = { root: true, insideMeta: false }

/** Validates the keywords that Kubernetes forbids or restricts, node by node (rules.md 7.13, 7.15, 7.16). */
export function* checkKeywords(schema: RawSchema, path: string, walk: SchemaWalk, context = ofRoot): Steps {
  const below: Context = context.root ? { ...context, root: false } : context
  const items = itemsOf(schema)
  walk.add(ownErrors(schema, path, context))
  yield* checkAdditional(schema, path, walk, below)
  yield* checkProperties(schema, path, walk, context)
  for (const [nested, at] of alternativesOf(schema, path)) yield* checkKeywords(nested, at, walk, below)
  if (items !== undefined) yield* checkKeywords(items, `${path}.items`, walk, below)
  yield* checkLists(schema, path, walk)
  yield* checkRules(schema, path, walk)
  if (walk.work.isStepDone()) yield
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

function* checkAdditional(schema: RawSchema, path: string, walk: SchemaWalk, below: Context): Steps {
  const { additionalProperties } = schema
  if (additionalProperties === undefined) return
  const at = `${path}.additionalProperties`
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0
  const additional = additionalOf(schema)
  const reason = below.insideMeta
    ? 'inside additionalProperties applying to object metadata'
    : below.noDefaults
  if (hasProperties && additionalProperties !== true)
    walk.errors.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'))
  if (additional !== undefined)
    yield* checkKeywords(
      additional,
      at,
      walk,
      reason === undefined ? below : { ...below, noDefaults: reason },
    )
}

const metaFields = ['metadata', 'kind', 'apiVersion']

function* checkProperties(schema: RawSchema, path: string, walk: SchemaWalk, context: Context): Steps {
  const isObjectRoot = context.root || schema['x-kubernetes-embedded-resource'] === true
  const below: Context = { ...context, root: false }
  for (const [name, property] of members(schema.properties)) {
    const inMeta = isObjectRoot && metaFields.includes(name)
    const own = inMeta
      ? { ...below, insideMeta: true, ...(context.root ? { noDefaults: `in top-level ${name}` } : {}) }
      : below
    yield* checkKeywords(property, key(`${path}.properties`, name), walk, own)
  }
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const hasNewline = (text: string): boolean => /[\n\r]/.test(text)

/** Validates the fields of CEL rules, without compiling them. */
function* checkRules(schema: RawSchema, path: string, walk: SchemaWalk): Steps {
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    walk.add(ruleErrors(schema, rule, `${path}.x-kubernetes-validations[${i}]`))
    if (walk.work.isStepDone()) yield
  }
}

function ruleErrors(schema: RawSchema, given: ValidationRule, at: string): readonly FieldError[] {
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
}

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
    ...(typeof findField(path, schema, 'dots and brackets') === 'string'
      ? [invalidValue(at, path, 'must be a valid path')]
      : []),
  ]
}
