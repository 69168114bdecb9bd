import type { StructInfo } from '../../cel/checker/environment.ts'
import { standardDeclarations } from '../../cel/library/index.ts'
import { declare, functionsOf, overload } from '../../cel/values/declaration.ts'
import { type CelType, dynType, listOf, stringType, structType } from '../../cel/values/type.ts'
import { type CelValue, isList, isMap, itemsOf, StructValue } from '../../cel/values/value.ts'

// What expressions make changes of: `Object{…}` and `JSONPatch{…}` (KEP-3962).

export const objectType = structType('Object')
export const patchType = structType('JSONPatch')
export const patchesType = listOf(patchType)

const patchFields: ReadonlyMap<string, CelType> = new Map([
  ['op', stringType],
  ['path', stringType],
  ['from', stringType],
  ['value', dynType],
])

const patchStruct: StructInfo = { constructible: true, field: name => patchFields.get(name) }
/** No schema is known where a policy is compiled: fields are checked when they are merged. */
const objectStruct: StructInfo = { constructible: true, field: () => dynType }

/** `Object` and everything under it, named by its path: `Object.spec.template`. */
export function mutationStruct(name: string): StructInfo | undefined {
  if (name === patchType.name) return patchStruct
  return name === objectType.name || name.startsWith(`${objectType.name}.`) ? objectStruct : undefined
}

const escapeKey = declare(
  'jsonpatch.escapeKey',
  overload('string_jsonpatch_escapeKey_string', [stringType], stringType, ([key]) =>
    String(key).replaceAll('~', '~0').replaceAll('/', '~1'),
  ),
)

export const mutationLibrary = functionsOf([...standardDeclarations, escapeKey])

/** Objects whose type is not the path of fields where they are: `Object{spec: Object.status{}}`. */
export const misnamed = (value: StructValue): readonly string[] => mismatches(value, value.type)

function mismatches(value: CelValue, expected: string): readonly string[] {
  if (isList(value)) return [...itemsOf(value)].flatMap(item => mismatches(item, expected))
  if (isMap(value)) return value.keys().flatMap(key => mismatches(value.get(key) ?? null, expected))
  if (!(value instanceof StructValue)) return []
  const text = `unexpected type name ${JSON.stringify(value.type)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`
  const own = value.type === expected ? [] : [text]
  return [...own, ...[...value.fields].flatMap(([name, field]) => mismatches(field, `${expected}.${name}`))]
}
