import type { Expr } from '../../cel/syntax/ast.ts'
import { isObject } from '../../framework/json/values.ts'

/** What an expression of a View reads besides the metadata that `ObjectMeta` has. */
export interface ExpressionReads {
  /** The object has to be decoded. */
  readonly body: boolean
  readonly cluster: boolean
  readonly user: boolean
}

/** The fields of `object.metadata` that are known without decoding the object. */
const known: ReadonlySet<string> = new Set(['name', '__namespace__', 'labels', 'annotations', 'uid'])

/** What the expression reads. A variable of a macro that has the name `object` counts as the object. */
export function readsOf(expr: Expr): ExpressionReads {
  const reads = { body: false, cluster: false, user: false }
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) visit(each)
    if (!isObject(node) || isKnownMetadata(node)) return
    if (node.kind === 'ident') {
      if (node.name === 'object') reads.body = true
      if (node.name === 'cluster') reads.cluster = true
      if (node.name === 'user') reads.user = true
    }
    for (const part of Object.values(node)) visit(part)
  }
  visit(expr)
  return reads
}

/** `object.metadata.labels`, without `has(…)`. */
function isKnownMetadata(node: Readonly<Record<string, unknown>>): boolean {
  const { operand } = node
  return (
    isSelect(node) &&
    known.has(String(node.field)) &&
    isObject(operand) &&
    isSelect(operand) &&
    operand.field === 'metadata' &&
    isObject(operand.operand) &&
    operand.operand.kind === 'ident' &&
    operand.operand.name === 'object'
  )
}

const isSelect = (node: Readonly<Record<string, unknown>>): boolean =>
  node.kind === 'select' && node.test === false
