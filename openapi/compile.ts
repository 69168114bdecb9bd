import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Decoded, DecodingScope, ObjectSchema, ValidationScope } from '../framework/contract/schema.ts'
import { atOnce, type Steps } from '../framework/json/json.ts'
import { append, LazySteps, lazily } from '../framework/json/values.ts'
import { badRequest, type FieldError, StatusError, tooLarge } from '../framework/meta/errors.ts'
import type { ErrorSteps } from '../framework/meta/errorsteps.ts'
import { child, invalidValue } from '../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import { type KubeObject, versionIn } from '../framework/meta/object.ts'
import { isTooDeep } from '../framework/wire/parsebody.ts'
import type { KindVersion } from './definitions/definition.ts'
import { compileRuleCheck, type RuleCheck } from './expressions/rules.ts'
import { LargeSchema, type SteppedSchema } from './largeschema.ts'
import { CompiledSize } from './nodes/nodes.ts'
import { hashSteps, isLarge, lengthOf, schemaHash } from './nodes/schemahash.ts'
import { DefaultsLimitError } from './validation/defaulting.ts'
import { compilePruning, UnreadableError } from './validation/pruning.ts'
import { CompiledChecks, compileCheck, validateSteps } from './validation/schema.ts'
import {
  compileStructure,
  embeddedCheck,
  type StructureCheck,
  uniquenessCheck,
} from './validation/structure.ts'
import { maxErrors, type ValueCheck } from './validation/validation.ts'

/** A compiled schema. Most of it is compiled when an object first needs it. */
export interface CompiledSchema {
  readonly size: CompiledSize
  readonly prune: ReturnType<typeof compilePruning>
  /** Without defaults. */
  readonly pruneOnly: () => ReturnType<typeof compilePruning>
  readonly check: ValueCheck
  /** undefined if the schema has no status. */
  readonly status: ValueCheck | undefined
  readonly embedded: LazySteps<StructureCheck | undefined>
  readonly uniqueness: LazySteps<StructureCheck | undefined>
  readonly rules: LazySteps<RuleCheck | undefined>
}

function compile(schema: JSONSchemaProps): CompiledSchema {
  const size = new CompiledSize()
  const checks = new CompiledChecks(size)
  const { status } = schema.properties ?? {}
  return {
    size,
    prune: compilePruning(schema, { root: true, size }),
    pruneOnly: lazily(() => compilePruning(schema, { root: true, defaults: false, size })),
    check: compileCheck(schema, checks),
    status: status && compileCheck(status, checks),
    embedded: new LazySteps(() => compileStructure(schema, embeddedCheck, size)),
    uniqueness: new LazySteps(() => compileStructure(schema, uniquenessCheck, size)),
    rules: new LazySteps(() => compileRuleCheck(schema, size)),
  }
}

/** Compiled schemas that are kept: those used last, up to a number of nodes. A tenant may define many large ones. */
export class CompiledSchemas {
  readonly #kept: LRUCache<JSONSchemaProps, CompiledSchema>

  constructor(nodes: number) {
    this.#kept = new LRUCache({
      maxSize: nodes,
      sizeCalculation: ({ size }, schema) => Math.ceil(size.nodes + lengthOf(schema) / charactersOfNode),
    })
  }

  /** Compiles the schema unless it is kept. `work` may compile more of it. */
  use<T>(schema: JSONSchemaProps, work: (compiled: CompiledSchema) => T): T {
    const using = this.#using(schema)
    try {
      return work(using.compiled)
    } finally {
      this.#keep(schema, using)
    }
  }

  *useInSteps<T>(schema: JSONSchemaProps, work: (compiled: CompiledSchema) => Steps<T>): Steps<T> {
    const using = this.#using(schema)
    try {
      return yield* work(using.compiled)
    } finally {
      this.#keep(schema, using)
    }
  }

  #using(schema: JSONSchemaProps): Using {
    const kept = this.#kept.get(schema)
    const compiled = kept ?? compile(schema)
    return { compiled, before: kept === undefined ? 0 : kept.size.nodes }
  }

  #keep(schema: JSONSchemaProps, { compiled, before }: Using): void {
    if (compiled.size.nodes <= before) return
    // A value that is kept already would keep its old size.
    this.#kept.delete(schema)
    this.#kept.set(schema, compiled)
  }
}

/** `before`: the nodes that were compiled before. */
interface Using {
  readonly compiled: CompiledSchema
  readonly before: number
}

/** Nodes that are kept for all schemas: some hundred megabytes. */
const mostNodes = 200_000

/** Characters of a decoded schema that take as much memory as a compiled node. */
const charactersOfNode = 200

/** Characters of the schemas that are kept by content: some hundred megabytes. */
const mostCharacters = 32 * 1024 * 1024

const compiledSchemas = new CompiledSchemas(mostNodes)

/**
 * Compiles a structural schema of a whole object on first use. `decode` throws 400 if metadata has fields of the wrong
 * type, or if the object is nested too deep, and 413 if its defaults exceed their limit.
 */
export function compileSchema(schema: JSONSchemaProps): SteppedSchema {
  const decoded: ObjectSchema['decode'] = (object, scope = {}) =>
    compiledSchemas.use(schema, parts => decodedBy(parts, object, scope))
  const validateSteps: SteppedSchema['validateSteps'] = (object, old, scope = {}) =>
    compiledSchemas.useInSteps(schema, parts =>
      errorsOf(parts, { object, old, account: scope.account }, scope),
    )
  return {
    decode: (object, scope) => decoded(ofLimitedDepth(object), scope),
    *decodeSteps(object, scope) {
      const limited = ofLimitedDepth(object)
      yield
      return decoded(limited, scope)
    },
    validate: (object, old, { account: _, ...scope } = {}) => atOnce(validateSteps(object, old, scope)),
    validateSteps,
  }
}

function ofLimitedDepth(object: KubeObject): KubeObject {
  if (isTooDeep(object)) throw cannotBeHandled(object, 'exceeded max depth')
  return object
}

function decodedBy({ prune }: CompiledSchema, object: KubeObject, scope: DecodingScope): Decoded {
  const whole = object.metadata === undefined ? { ...object, metadata: {} } : object
  try {
    const { value, unknown } = prune(whole, scope)
    return { object: value as KubeObject, unknown }
  } catch (error) {
    if (error instanceof DefaultsLimitError) throw tooLarge(error.message)
    throw error instanceof UnreadableError ? cannotBeHandled(object, error.message) : error
  }
}

/** 400, with the message of Kubernetes' decoders (rules.md 2.38). */
function cannotBeHandled({ kind, apiVersion }: KubeObject, why: string): StatusError {
  const version = versionIn(String(apiVersion))
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`)
}

/** The new and the old object, and for whom they are validated. */
interface Versions {
  readonly object: KubeObject
  readonly old: KubeObject | undefined
  readonly account: string | undefined
}

/** Errors in the order of Kubernetes: schema, embedded resources, duplicate items, rules. At most `maxErrors`. */
function* errorsOf(compiled: CompiledSchema, versions: Versions, scope: ValidationScope): ErrorSteps {
  const { check, embedded, uniqueness, rules } = compiled
  const { object } = versions
  const isWhole = scope.onlyStatus !== true
  const own = isWhole ? validateSteps(check, object, versions) : statusErrors(compiled, versions)
  const errors = [...(yield* own)]
  yield
  if (isWhole) append(errors, structureErrors(embedded.made ?? (yield* embedded.steps()), object))
  if (scope.mayRepeat !== true)
    append(errors, repetitionErrors(uniqueness.made ?? (yield* uniqueness.steps()), versions))
  yield
  const { value } = scope.withoutRules === true ? noRules : (rules.made ?? (yield* rules.steps()))
  if (value !== undefined) append(errors, yield* ruleErrors(value, errors, versions))
  return errors.length > maxErrors ? errors.slice(0, maxErrors) : errors
}

const noRules = { value: undefined }

/** Errors after which rules are not evaluated. */
const blocking: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const notChecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/** Rules are evaluated only if the schema has no blocking errors (rules.md 7.37). */
function* ruleErrors(rules: RuleCheck, shape: readonly FieldError[], versions: Versions): ErrorSteps {
  const { object, old, account } = versions
  return shape.some(({ type }) => blocking.has(type))
    ? [invalidValue('', null, notChecked)]
    : yield* rules(object, old, account)
}

/** Like Kubernetes, validates the status alone and prefixes its path. */
function* statusErrors({ status }: CompiledSchema, { object, old, account }: Versions): ErrorSteps {
  if (status === undefined || object.status === undefined) return []
  return (yield* validateSteps(status, object.status, { old: old?.status, account })).map(error => ({
    ...error,
    field: error.field === '' ? 'status' : child('status', error.field),
  }))
}

/** If the old object has duplicate items, all duplicates are ignored. */
function repetitionErrors(check: MadeCheck, { object, old }: Versions): readonly FieldError[] {
  const repeated = structureErrors(check, object)
  const isForgiven = repeated.length > 0 && old !== undefined && structureErrors(check, old).length > 0
  return isForgiven ? [] : repeated
}

type MadeCheck = NonNullable<CompiledSchema['embedded']['made']>

function structureErrors({ value }: MadeCheck, object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  value?.(object, () => '', errors)
  return errors
}

/**
 * A cache of the last used schemas, by content: up to `max`, which together have up to `characters` in JSON. A large one is shared once
 * it is prepared.
 */
export function schemaCache(
  max: number,
  characters = mostCharacters,
): (schema: JSONSchemaProps) => SteppedSchema {
  const byHash = new LRUCache<string, SteppedSchema>({ max, maxSize: characters })
  const byIdentity = new WeakMap<JSONSchemaProps, SteppedSchema>()
  const shared = (schema: JSONSchemaProps): SteppedSchema => {
    const hash = schemaHash(schema)
    const compiled = byHash.get(hash) ?? compileSchema(schema)
    byHash.set(hash, compiled, { size: lengthOf(schema) })
    return compiled
  }
  const large = (schema: JSONSchemaProps): SteppedSchema =>
    new LargeSchema({
      own: compileSchema(schema),
      hash: () => hashSteps(schema),
      shared: () => shared(schema),
    })
  return schema => {
    const compiled = byIdentity.get(schema) ?? (isLarge(schema) ? large(schema) : shared(schema))
    byIdentity.set(schema, compiled)
    return compiled
  }
}

/** Like `compileSchema`, shared by all logical clusters that serve an equal schema. */
export const compileCached = schemaCache(2000)

const numbers = new WeakMap<KindVersion, number>()

/** A hash of a version and its schema, which is stored with each object that was completed by it. Never 0. */
export function shapeNumber(version: KindVersion): number {
  const known = numbers.get(version)
  if (known !== undefined) return known
  const text = `${version.name}/${schemaHash(version.schema)}`
  const number = createHash('sha256').update(text).digest().readInt32LE(0) || 1
  numbers.set(version, number)
  return number
}

/**
 * A stored object, pruned and defaulted by the current schema of its version; the same object if nothing changes. An
 * object that cannot be decoded stays unchanged, so that clients can repair it; defaults beyond their limit are left out.
 */
export function completed(schema: JSONSchemaProps, object: KubeObject): KubeObject {
  try {
    return compileCached(schema).decode(object, { stored: true }).object
  } catch (error) {
    if (error instanceof StatusError) return object
    throw error
  }
}

/** A pruned object without defaulting, for conversion to another version. */
export function pruned(schema: JSONSchemaProps, object: KubeObject): KubeObject {
  try {
    return compiledSchemas.use(schema, ({ pruneOnly }) => pruneOnly()(object).value as KubeObject)
  } catch (error) {
    if (error instanceof UnreadableError) return object
    throw error
  }
}
