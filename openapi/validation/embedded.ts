import { append, isObject, memberOf } from '../../framework/formats/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue, required } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import {
  dns1035LabelErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from '../../framework/meta/names.ts'
import type { StructureCheck } from './structure.ts'

/** `x-kubernetes-embedded-resource`: the value has apiVersion and kind, and its metadata is valid. */
export const embeddedCheck = (schema: JSONSchemaProps): StructureCheck | undefined =>
  schema['x-kubernetes-embedded-resource'] === true
    ? (value, path, errors) => append(errors, embeddedErrors(value, path))
    : undefined

function embeddedErrors(value: unknown, path: string): readonly FieldError[] {
  if (!isObject(value)) return []
  return [
    ...apiVersionErrors(`${path}.apiVersion`, value.apiVersion),
    ...kindErrors(`${path}.kind`, value.kind),
    ...metadataErrors(`${path}.metadata`, value.metadata),
  ]
}

function textErrors(path: string, value: unknown): readonly FieldError[] | undefined {
  if (value === undefined) return [required(path)]
  if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string')]
  return value === '' ? [invalidValue(path, value, 'must not be empty')] : undefined
}

const apiVersionErrors = (path: string, value: unknown): readonly FieldError[] =>
  textErrors(path, value) ??
  (String(value).split('/').length > 2
    ? [invalidValue(path, value, `unexpected GroupVersion string: ${value}`)]
    : [])

function kindErrors(path: string, value: unknown): readonly FieldError[] {
  const wrong = textErrors(path, value)
  if (wrong !== undefined) return wrong
  const errors = dns1035LabelErrors(String(value).toLowerCase())
  const text = `may have mixed case, but should otherwise match: ${errors.join(',')}`
  return errors.length === 0 ? [] : [invalidValue(path, value, text)]
}

const invalidTexts = (
  path: string,
  value: string,
  check: (value: string) => readonly string[],
): FieldError[] => check(value).map(text => invalidValue(path, value, text))

/** Names of embedded objects need not be legal for their kind, which is not known here. */
function metadataErrors(path: string, metadata: unknown): readonly FieldError[] {
  const name = memberOf(metadata, 'name')
  const labels = Object.entries(memberOf(metadata, 'labels') ?? {})
  const annotations = Object.keys(memberOf(metadata, 'annotations') ?? {})
  return [
    ...(typeof name === 'string' ? invalidTexts(`${path}.name`, name, pathSegmentErrors) : []),
    ...labels.flatMap(([key, value]) => [
      ...invalidTexts(`${path}.labels`, key, qualifiedNameErrors),
      ...invalidTexts(`${path}.labels`, String(value), labelValueErrors),
    ]),
    ...annotations.flatMap(key =>
      invalidTexts(`${path}.annotations`, key.toLowerCase(), qualifiedNameErrors),
    ),
  ]
}
