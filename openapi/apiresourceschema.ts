import { Work } from '../framework/json/json.ts'
import { sameJsonSteps } from '../framework/json/same.ts'
import { append, isObject, listAt, memberOf, textAt, valueAt } from '../framework/json/values.ts'
import type { FieldError } from '../framework/meta/errors.ts'
import type { ErrorSteps } from '../framework/meta/errorsteps.ts'
import { invalidValue, required } from '../framework/meta/fielderror.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { approvalErrors, domainErrors, missingNames, nameErrors } from './crd/names.ts'
import {
  selectableFieldErrors,
  versionCountErrors,
  versionErrors,
  versionSchemaErrors,
  versionSetErrors,
} from './crd/version.ts'
import type { RawSchema } from './structural/schema.ts'
import { patternCostErrors } from './structural/structural.ts'

/**
 * Validates an APIResourceSchema (kcp `pkg/admission/apiresourceschema`). With `old`, the spec is immutable, and an
 * unchanged spec is not validated again.
 */
export function* validateAPIResourceSchema(schema: KubeObject, old?: KubeObject): ErrorSteps {
  const unchanged = old !== undefined && (yield* sameJsonSteps(schema.spec, old.spec, new Work()))
  return [
    ...objectNameErrors(schema),
    ...approvalErrors(schema),
    ...(unchanged ? [] : yield* specErrors(schema.spec)),
    ...(unchanged || old === undefined ? [] : [immutableError(schema.spec)]),
  ]
}

function* specErrors(spec: unknown): ErrorSteps {
  const versions = listAt(spec, 'versions')
  const tooLarge = [
    ...versionCountErrors(versions, [], 'spec.versions'),
    ...(yield* patternCostErrors(versions, 'spec.versions')),
  ]
  if (tooLarge.length > 0) return tooLarge
  return [
    ...groupErrors(textAt(spec, 'group')),
    ...(yield* versionsErrors(versions)),
    ...versionSetErrors(versions, 'spec.versions'),
    ...missingNames(memberOf(spec, 'names'), 'spec.names'),
    ...(yield* nameErrors(memberOf(spec, 'names'), 'spec.names')),
  ]
}

function* versionsErrors(versions: readonly unknown[]): ErrorSteps {
  const errors: FieldError[] = []
  for (const [i, version] of versions.entries()) {
    append(errors, yield* schemaVersionErrors(version, `spec.versions[${i}]`))
    yield
  }
  return errors
}

/** The value has group and names only, because the whole spec can have many kilobytes. */
const immutableError = (spec: unknown): FieldError =>
  invalidValue('spec', { group: textAt(spec, 'group'), names: memberOf(spec, 'names') }, 'is immutable')

const prefixPattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/

/** `<prefix>.<plural>.<group>` with any prefix, and with `core` for the core group. */
function objectNameErrors({ metadata, spec }: KubeObject): readonly FieldError[] {
  const plural = textAt(spec, 'names', 'plural')
  if (plural === '') return []
  const name = metadata.name ?? ''
  const suffix = `.${plural}.${textAt(spec, 'group') || 'core'}`
  if (!name.endsWith(suffix)) return [invalidValue('metadata.name', name, `must end in ${suffix}`)]
  return prefixPattern.test(name.slice(0, -suffix.length))
    ? []
    : [invalidValue('metadata.name', name, `must match ^[a-z]([-a-z0-9]*[a-z0-9])?$ in front of ${suffix}`)]
}

function groupErrors(group: string): readonly FieldError[] {
  const path = 'spec.group'
  if (group === 'core') return [invalidValue(path, group, 'must be empty string for the core group')]
  return domainErrors(path, group)
}

/** Like kcp, reports errors in the schema at `schema.openAPIV3Schema`, although the object has no such field. */
function* schemaVersionErrors(version: unknown, path: string): ErrorSteps {
  const schema = memberOf(version, 'schema') ?? undefined
  if (schema === undefined) return [...(yield* versionErrors(version, path)), required(`${path}.schema`)]
  const status = isObject(valueAt(version, 'subresources', 'status'))
  const schemaErrors = yield* versionSchemaErrors(schema, status, `${path}.schema.openAPIV3Schema`)
  const selectable = schemaErrors.length > 0 ? [] : listAt(version, 'selectableFields')
  return [
    ...(yield* versionErrors(version, path)),
    ...schemaErrors,
    ...(yield* selectableFieldErrors(selectable, schema as RawSchema, `${path}.selectableFields`)),
  ]
}
