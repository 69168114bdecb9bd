import type { FieldError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'

/** A decoded request body and its unknown fields, which are ignored, reported as warnings or refused (rules.md 2.46, 2.47). */
export interface Decoded {
  readonly object: KubeObject
  /** Paths of unknown fields, sorted, those of embedded metadata last: `spec.foo`, `spec.items[0].bar` (rules.md 2.47). */
  readonly unknown: readonly string[]
}

/**
 * The compiled schema of one kind in one version; implemented in `openapi/`. Logical clusters with the same schema share
 * one.
 */
export interface ObjectSchema {
  /** Prepares a large schema between the turns of other requests, before it is first used; undefined: it is ready. */
  prepare?(): Promise<void> | undefined
  /** Prunes unknown fields, removes nulls that are not allowed, applies defaults (rules.md 7.18 to 7.22). Does not modify its
   * input, and shares unchanged parts with it. Throws 400 if metadata has fields of the wrong type, or on too deep nesting,
   * and 413 if the defaults add too much to the object. */
  decode(object: KubeObject, scope?: DecodingScope): Decoded
  /** The schema errors of a decoded object (rules.md 7.23 to 7.29); with `old`, without errors of unchanged values
   * (ratcheting, KEP-4008). Metadata is not validated. */
  validate(object: KubeObject, old?: KubeObject, scope?: ValidationScope): readonly FieldError[]
  /** What `decode` returns, in steps between which other requests are processed. Default: `decode`, in one step. */
  decodeSteps?(object: KubeObject, scope?: DecodingScope): Generator<void, Decoded>
  /** What `validate` returns, in steps. Default: `validate`, in one step. */
  validateSteps?(
    object: KubeObject,
    old?: KubeObject,
    scope?: ValidationScope,
  ): Generator<void | Promise<void>, readonly FieldError[]>
}

/** The part of an object that is decoded; default: the body of a request. */
export interface DecodingScope {
  /** A stored object: defaults that add too much are left out. */
  readonly stored?: boolean
  /** The result of an apply: nulls that are not allowed and have no default stay, for `validate` to refuse. */
  readonly applied?: boolean
}

/** The part of an object that is validated; by default the whole object. */
export interface ValidationScope {
  /** Only the status, except for rules and repeated items; paths in messages begin below it. */
  readonly onlyStatus?: boolean
  /** Items of sets, and keys of lists of type map, may be repeated. */
  readonly mayRepeat?: boolean
  /** CEL rules are not evaluated. */
  readonly withoutRules?: boolean
  /** Whose long matches of patterns are made in a thread, in turn with those of others; absent: they are refused. */
  readonly account?: string
}

/** One column of a Table (rules.md 7.51 to 7.58). */
export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
  /** Whether the cell depends on the metadata of an object only: other parts may be absent then. */
  readonly ofMetadata?: boolean
  /** Whether the cell is the name of the object, so that there is no first column `Name`. */
  readonly isName?: boolean
  /** The cell of an object. `now` is the time for ages. */
  cell(object: KubeObject, now: Date): string | number | boolean | null
}
