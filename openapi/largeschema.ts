import { inTurns, Pace } from '../framework/async/awaitable.ts'
import type { ObjectSchema } from '../framework/contract/schema.ts'

/** A schema that works in steps: also those of compiling what the object needs first, and one for each CEL rule. */
export type SteppedSchema = ObjectSchema & Required<Pick<ObjectSchema, 'decodeSteps' | 'validateSteps'>>

/** How a large schema is compiled: for itself, and after its hash is known. */
interface LargeSchemaParts {
  readonly own: SteppedSchema
  hash(): Generator<void, unknown>
  /** What equal schemas share; called once. */
  shared(): SteppedSchema
}

/** A schema that is hashed in steps before it is first used, and then shares what equal ones have compiled. */
export class LargeSchema implements SteppedSchema {
  readonly #parts: LargeSchemaParts
  #inner: SteppedSchema
  #preparing: Promise<void> | undefined
  #isPrepared = false

  constructor(parts: LargeSchemaParts) {
    this.#parts = parts
    this.#inner = parts.own
  }

  prepare(): Promise<void> | undefined {
    if (this.#isPrepared) return undefined
    this.#preparing ??= this.#prepare()
    return this.#preparing
  }

  async #prepare(): Promise<void> {
    await inTurns(this.#parts.hash(), new Pace())
    this.#inner = this.#parts.shared()
    this.#isPrepared = true
  }

  readonly decode: ObjectSchema['decode'] = (...of) => this.#inner.decode(...of)
  readonly validate: ObjectSchema['validate'] = (...of) => this.#inner.validate(...of)
  readonly decodeSteps: SteppedSchema['decodeSteps'] = (...of) => this.#inner.decodeSteps(...of)
  readonly validateSteps: SteppedSchema['validateSteps'] = (...of) => this.#inner.validateSteps(...of)
}
