import type { FieldError } from '../../framework/meta/errors.ts'
import { required } from '../../framework/meta/fielderror.ts'
import { alternativesOf, itemsOf, key, type RawSchema } from './schema.ts'

/** A part of the structural schema and its path; the part may be missing. */
type Place = readonly [schema: RawSchema | undefined, path: string]

/**
 * Every field that is constrained in allOf, anyOf, oneOf or not must be specified outside of them too (rule 7.12). Like
 * Kubernetes, and so that its CRDs are accepted, this looks at those of the root alone.
 */
export const completenessErrors = (schema: RawSchema, path: string): readonly FieldError[] =>
  alternativesOf(schema, path).flatMap(([nested, at]) => nestedErrors(nested, at, [schema, path]))

function nestedErrors(nested: RawSchema, at: string, place: Place): readonly FieldError[] {
  const [schema, path] = place
  if (schema === undefined) return [required(path, `because it is defined in ${at}`)]
  const items = itemsOf(nested)
  return [
    ...alternativesOf(nested, at).flatMap(([deeper, there]) => nestedErrors(deeper, there, place)),
    ...(items === undefined ? [] : nestedErrors(items, `${at}.items`, [itemsOf(schema), `${path}.items`])),
    ...Object.entries(nested.properties ?? {}).flatMap(([name, property]) => {
      const own = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined
      return nestedErrors(property, key(`${at}.properties`, name), [own, key(`${path}.properties`, name)])
    }),
  ]
}
