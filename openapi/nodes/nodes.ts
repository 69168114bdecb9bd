import { Work } from '../../framework/json/json.ts'
import { isObject } from '../../framework/json/values.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** The maximum depth of schemas, so that walking them does not overflow the stack. */
export const maxSchemaDepth = 200

/** `left`: the levels that a node may have below it. Throws at the end of them. */
export function requireDepth(left: number): void {
  if (left === 0) throw new Error(`the schema is nested deeper than ${maxSchemaDepth} levels`)
}

/** How much of a schema is compiled, in nodes of about a kilobyte. */
export class CompiledSize {
  nodes = 0
}

/** A search for nodes, in steps. */
interface Search {
  readonly found: Set<JSONSchemaProps>
  readonly work: Work
  isWanted(schema: JSONSchemaProps): boolean
}

/**
 * The nodes in the structural part of a schema (outside of allOf, anyOf, oneOf and not) that are wanted, and those that such a node is
 * below, found in steps. Throws if the schema is deeper than `maxSchemaDepth`.
 */
export function* nodesWith(
  schema: JSONSchemaProps,
  isWanted: (schema: JSONSchemaProps) => boolean,
): Generator<void, ReadonlySet<JSONSchemaProps>> {
  const search: Search = { found: new Set(), work: new Work(), isWanted }
  yield* visit(search, schema, maxSchemaDepth)
  return search.found
}

function* visit(search: Search, node: JSONSchemaProps, depth: number): Generator<void> {
  requireDepth(depth)
  const { found, work } = search
  if (search.isWanted(node)) found.add(node)
  for (const below of schemasBelow(node)) {
    yield* visit(search, below, depth - 1)
    if (found.has(below)) found.add(node)
  }
  if (work.isStepDone()) yield
}

function* schemasBelow(node: JSONSchemaProps): Generator<JSONSchemaProps> {
  const { properties, additionalProperties: other, items } = node
  for (const name in properties) yield properties[name] ?? {}
  if (isObject(other)) yield other
  if (items !== undefined) yield items
}
