import { isObject } from '../../framework/formats/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { child } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** Appends what is wrong at a path. Here map keys are written `[key]` (chapter 40, rule 2.22). */
export type StructureCheck = (value: unknown, path: string, errors: FieldError[]) => void

/** The check of one node alone, if its schema asks for it. */
export type NodeCheck = (schema: JSONSchemaProps) => StructureCheck | undefined

interface Below {
  readonly known: ReadonlyMap<string, StructureCheck>
  readonly other: StructureCheck | undefined
  readonly items: StructureCheck | undefined
}

/**
 * Compiles a check that applies to some nodes of the structural part of a schema (not to allOf, anyOf, oneOf, not).
 * undefined when no node asks for it: then nothing is walked.
 */
export function compileStructure(schema: JSONSchemaProps, nodeCheck: NodeCheck): StructureCheck | undefined {
  const own = nodeCheck(schema)
  const below = compileBelow(schema, nodeCheck)
  if (below === undefined) return own
  return (value, path, errors) => {
    own?.(value, path, errors)
    if (Array.isArray(value)) checkItems(below, value, path, errors)
    else if (isObject(value)) checkMembers(below, value, path, errors)
  }
}

function compileBelow(schema: JSONSchemaProps, nodeCheck: NodeCheck): Below | undefined {
  const { properties = {}, additionalProperties: other, items } = schema
  const known = Object.entries(properties).flatMap(([key, property]) => {
    const check = compileStructure(property, nodeCheck)
    return check === undefined ? [] : [[key, check] as const]
  })
  const below: Below = {
    known: new Map(known),
    other: isObject(other) ? compileStructure(other, nodeCheck) : undefined,
    items: items === undefined ? undefined : compileStructure(items, nodeCheck),
  }
  const isEmpty = known.length === 0 && below.other === undefined && below.items === undefined
  return isEmpty ? undefined : below
}

function checkItems({ items }: Below, list: readonly unknown[], path: string, errors: FieldError[]): void {
  list.forEach((item, i) => {
    items?.(item, `${path}[${i}]`, errors)
  })
}

function checkMembers(below: Below, object: object, path: string, errors: FieldError[]): void {
  for (const [key, value] of Object.entries(object)) {
    const known = below.known.get(key)
    if (known !== undefined) known(value, child(path, key), errors)
    else below.other?.(value, `${path}[${key}]`, errors)
  }
}
