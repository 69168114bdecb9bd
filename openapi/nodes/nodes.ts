import { isObject } from '../../framework/formats/values.ts'
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

/**
 * The nodes in the structural part of a schema (outside of allOf, anyOf, oneOf and not) that are wanted, and those that such a node is
 * below. Throws if the schema is deeper than `maxSchemaDepth`.
 */
export function nodesWith(
  schema: JSONSchemaProps,
  isWanted: (schema: JSONSchemaProps) => boolean,
): ReadonlySet<JSONSchemaProps> {
  const found = new Set<JSONSchemaProps>()
  const visit = (node: JSONSchemaProps, depth: number): void => {
    requireDepth(depth)
    if (isWanted(node)) found.add(node)
    const { properties = {}, additionalProperties: other, items } = node
    const visitBelow = (below: JSONSchemaProps): void => {
      visit(below, depth - 1)
      if (found.has(below)) found.add(node)
    }
    for (const name in properties) visitBelow(properties[name] ?? {})
    if (isObject(other)) visitBelow(other)
    if (items !== undefined) visitBelow(items)
  }
  visit(schema, maxSchemaDepth)
  return found
}
