import { LRUCache } from 'lru-cache'
import { lazily } from '../framework/formats/values.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import { compileRuleCheck, type RuleCheck } from './expressions/rules.ts'
import { CompiledSize } from './nodes/nodes.ts'
import { compilePruning } from './validation/pruning.ts'
import { CompiledChecks, compileCheck } from './validation/schema.ts'
import {
  compileStructure,
  embeddedCheck,
  type StructureCheck,
  uniquenessCheck,
} from './validation/structure.ts'
import type { ValueCheck } from './validation/validation.ts'

/** A compiled schema. Most of it is compiled when an object first needs it. */
export interface CompiledSchema {
  readonly size: CompiledSize
  readonly prune: ReturnType<typeof compilePruning>
  /** Without defaults. */
  readonly pruneOnly: () => ReturnType<typeof compilePruning>
  readonly check: ValueCheck
  /** undefined if the schema has no status. */
  readonly status: ValueCheck | undefined
  readonly embedded: Made<StructureCheck | undefined>
  readonly uniqueness: Made<StructureCheck | undefined>
  readonly rules: Made<RuleCheck | undefined>
}

/** A value that is made in steps when it is first needed. */
type Made<T> = () => Generator<void, T>

function madeOnce<T>(make: Made<T>): Made<T> {
  let made: { readonly value: T } | undefined
  return function* () {
    made ??= { value: yield* make() }
    return made.value
  }
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
    embedded: madeOnce(() => compileStructure(schema, embeddedCheck, size)),
    uniqueness: madeOnce(() => compileStructure(schema, uniquenessCheck, size)),
    rules: madeOnce(() => compileRuleCheck(schema, size)),
  }
}

/** Compiled schemas that are kept: those used last, up to a number of nodes. A tenant may define many large ones. */
export class CompiledSchemas {
  readonly #kept: LRUCache<JSONSchemaProps, CompiledSchema>

  constructor(nodes: number) {
    this.#kept = new LRUCache({ maxSize: nodes, sizeCalculation: ({ size }) => Math.ceil(size.nodes) })
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

  *useInSteps<T>(
    schema: JSONSchemaProps,
    work: (compiled: CompiledSchema) => Generator<void, T>,
  ): Generator<void, T> {
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
