import { Work } from '../../framework/json/json.ts'
import { sameJsonSteps } from '../../framework/json/same.ts'
import {
  append,
  isObject,
  type JsonObject,
  listAt,
  memberOf,
  textAt,
  valueAt,
} from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { type ErrorSteps, itemErrors } from '../../framework/meta/errorsteps.ts'
import { invalidValue, required, unsupported } from '../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { RawSchema } from '../structural/schema.ts'
import { patternCostErrors } from '../structural/structural.ts'
import { conversionErrors } from './conversion.ts'
import { approvalErrors, domainErrors, missingNames, nameErrors } from './names.ts'
import {
  hoisted,
  partErrors,
  selectableFieldErrors,
  versionCountErrors,
  versionErrors,
  versionSchemaErrors,
  versionSetErrors,
} from './version.ts'

/** Defaults a CustomResourceDefinition (rules.md 7.1). Accepts objects of any shape. */
export function defaultCustomResourceDefinition(crd: KubeObject): KubeObject {
  if (!isObject(crd.spec)) return crd
  const { spec } = crd
  return {
    ...crd,
    spec: {
      ...spec,
      names: defaultNames(spec.names),
      conversion: isObject(spec.conversion) ? defaultPort(spec.conversion) : { strategy: 'None' },
    },
    status: defaultStatus(crd),
  }
}

function defaultNames(names: unknown): unknown {
  const kind = textAt(names, 'kind')
  if (!isObject(names) || kind === '') return names
  return {
    ...names,
    singular: textAt(names, 'singular') || kind.toLowerCase(),
    listKind: textAt(names, 'listKind') || `${kind}List`,
  }
}

function defaultPort(conversion: JsonObject): JsonObject {
  const service = valueAt(conversion, 'webhook', 'clientConfig', 'service')
  if (!isObject(service) || service.port !== undefined) return conversion
  const webhook = conversion.webhook as JsonObject
  const clientConfig = { ...(webhook.clientConfig as JsonObject), service: { ...service, port: 443 } }
  return { ...conversion, webhook: { ...webhook, clientConfig } }
}

function defaultStatus(crd: KubeObject): unknown {
  if (listAt(crd.status, 'storedVersions').length > 0) return crd.status
  const stored = listAt(crd.spec, 'versions').find(version => memberOf(version, 'storage') === true)
  const storedVersions = stored === undefined ? [] : [textAt(stored, 'name')]
  return { ...(isObject(crd.status) ? crd.status : {}), storedVersions }
}

/**
 * Validates a defaulted CustomResourceDefinition beyond its schema and metadata (rules.md 7.2 to 7.8). With `old`,
 * immutable fields are compared, and unchanged schemas are not validated again.
 */
export function* validateCustomResourceDefinition(crd: KubeObject, old?: KubeObject): ErrorSteps {
  const { spec, status } = crd
  const versions = listAt(spec, 'versions')
  const tooLarge = [
    ...versionCountErrors(versions, listAt(old?.spec, 'versions'), 'spec.versions'),
    ...(yield* patternCostErrors(versions, 'spec.versions')),
  ]
  if (tooLarge.length > 0) return tooLarge
  const { common, own } = yield* hoisted(versions)
  const schemas = new OldSchemas(old)
  return [
    ...objectNameErrors(crd),
    ...domainErrors('spec.group', textAt(spec, 'group')),
    ...scopeErrors(textAt(spec, 'scope')),
    ...missingSchemas(versions),
    ...(yield* ownErrors(own, schemas)),
    ...versionSetErrors(versions, 'spec.versions'),
    ...missingNames(memberOf(spec, 'names'), 'spec.names'),
    ...(yield* nameErrors(memberOf(spec, 'names'), 'spec.names')),
    ...(yield* commonErrors(common, versions, schemas)),
    ...conversionErrors(memberOf(spec, 'conversion'), 'spec.conversion'),
    ...(old === undefined ? [] : immutableErrors(crd, old)),
    ...(yield* nameErrors(memberOf(status, 'acceptedNames'), 'status.acceptedNames')),
    ...(yield* storedVersionErrors(listAt(status, 'storedVersions').map(String), versions)),
    ...approvalErrors(crd, old),
    ...preserveErrors(spec),
  ]
}

/** On copies of bound schemas, whose names are uids (`ValidateCustomResourceDefinition` of kcp's Kubernetes). */
const boundCopy = 'apis.kcp.io/bound-crd'

function objectNameErrors({ metadata, spec }: KubeObject): readonly FieldError[] {
  if (metadata.annotations?.[boundCopy] !== undefined) return []
  const expected = `${textAt(spec, 'names', 'plural')}.${textAt(spec, 'group') || 'core'}`
  const text = 'must be spec.names.plural+"."+spec.group'
  return metadata.name === expected ? [] : [invalidValue('metadata.name', metadata.name ?? '', text)]
}

const scopes = ['Cluster', 'Namespaced']

function scopeErrors(scope: string): readonly FieldError[] {
  if (scope === '') return [required('spec.scope')]
  return scopes.includes(scope) ? [] : [unsupported('spec.scope', scope, scopes)]
}

const schemaOf = (version: unknown): unknown => valueAt(version, 'schema', 'openAPIV3Schema')

const hasStatus = (version: unknown): boolean => isObject(valueAt(version, 'subresources', 'status'))

const missingSchemas = (versions: readonly unknown[]): readonly FieldError[] =>
  versions.flatMap((version, i) =>
    schemaOf(version) === undefined ? [required(`spec.versions[${i}].schema.openAPIV3Schema`)] : [],
  )

/** The schemas of the versions of the definition before an update. */
class OldSchemas {
  readonly #byVersion: ReadonlyMap<string, unknown>

  constructor(old: KubeObject | undefined) {
    const versions = listAt(old?.spec, 'versions')
    this.#byVersion = new Map(versions.map(version => [textAt(version, 'name'), schemaOf(version)]))
  }

  *have(version: unknown, schema: unknown): Generator<void, boolean> {
    const before = this.#byVersion.get(textAt(version, 'name'))
    return before !== undefined && (yield* sameJsonSteps(before, schema, new Work()))
  }

  *haveAll(versions: readonly unknown[], schema: unknown): Generator<void, boolean> {
    for (const version of versions) {
      yield
      if (!(yield* this.have(version, schema))) return false
    }
    return true
  }
}

/** Validates the parts of versions that differ from those of other versions. */
function* ownErrors(versions: readonly unknown[], schemas: OldSchemas): ErrorSteps {
  const errors: FieldError[] = []
  for (const [i, version] of versions.entries()) {
    append(errors, yield* crdVersionErrors(version, `spec.versions[${i}]`, schemas))
    yield
  }
  return errors
}

function* crdVersionErrors(version: unknown, path: string, schemas: OldSchemas): ErrorSteps {
  const schema = schemaOf(version)
  const checked = schema === undefined || (yield* schemas.have(version, schema))
  const at = `${path}.schema.openAPIV3Schema`
  const schemaErrors = checked ? [] : yield* versionSchemaErrors(schema, hasStatus(version), at)
  const isSound = schema !== undefined && schemaErrors.length === 0
  const fields = isSound ? listAt(version, 'selectableFields') : []
  return [
    ...(yield* versionErrors(version, path)),
    ...schemaErrors,
    ...(yield* selectableFieldErrors(fields, schema as RawSchema, `${path}.selectableFields`)),
  ]
}

/** Validates the parts that are equal in all versions. */
function* commonErrors(common: JsonObject, versions: readonly unknown[], schemas: OldSchemas): ErrorSteps {
  const schema = schemaOf(common)
  const checked = schema === undefined || (yield* schemas.haveAll(versions, schema))
  const at = 'spec.validation.openAPIV3Schema'
  const schemaErrors = checked ? [] : yield* versionSchemaErrors(schema, versions.some(hasStatus), at)
  const isSound = schema !== undefined && schemaErrors.length === 0
  const fields = isSound ? listAt(common, 'selectableFields') : []
  return [
    ...schemaErrors,
    ...(yield* partErrors(common, 'spec')),
    ...(yield* selectableFieldErrors(fields, schema as RawSchema, 'spec.selectableFields')),
  ]
}

const isEstablished = (crd: KubeObject): boolean =>
  listAt(crd.status, 'conditions').some(
    condition => textAt(condition, 'type') === 'Established' && textAt(condition, 'status') === 'True',
  )

/** Group and plural are part of the name of the CRD; scope and kind of stored objects (rules.md 7.4). */
function immutableErrors(crd: KubeObject, old: KubeObject): readonly FieldError[] {
  const always = [['group'], ['names', 'plural']]
  const established = [['scope'], ['names', 'kind']]
  return [...(isEstablished(old) ? established : []), ...always]
    .filter(path => textAt(crd.spec, ...path) !== textAt(old.spec, ...path))
    .map(path => invalidValue(['spec', ...path].join('.'), textAt(crd.spec, ...path), 'field is immutable'))
}

const missing = (name: string): string =>
  `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`

function* storedVersionErrors(stored: readonly string[], versions: readonly unknown[]): ErrorSteps {
  const path = 'status.storedVersions'
  if (stored.length === 0) return [invalidValue(path, stored, 'must have at least one stored version')]
  const names = new Set(versions.map(version => textAt(version, 'name')))
  const known = new Set(stored)
  const storage = versions
    .filter(version => memberOf(version, 'storage') === true)
    .map(version => textAt(version, 'name'))
  return [
    ...storage
      .filter(name => !known.has(name))
      .map(name => invalidValue(path, stored, `must have the storage version ${name}`)),
    ...(yield* itemErrors(stored, (name, i) =>
      names.has(name) ? [] : [invalidValue(`${path}[${i}]`, name, missing(name))],
    )),
  ]
}

const preserveErrors = (spec: unknown): readonly FieldError[] =>
  memberOf(spec, 'preserveUnknownFields') === true
    ? [
        invalidValue(
          'spec.preserveUnknownFields',
          true,
          'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        ),
      ]
    : []
