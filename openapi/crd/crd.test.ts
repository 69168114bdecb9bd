import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { defaultCustomResourceDefinition, validateCustomResourceDefinition } from './crd.ts'
import { crdOf, names, schema, text, v1 } from './testing/definition.ts'

const errorsOf = (spec: object, more: object = {}): readonly string[] =>
  atOnce(validateCustomResourceDefinition(crdOf(spec, more))).map(text)

/** The errors of a version, whose path is written `@`. */
const versionErrors = (version: object): readonly string[] => errorsOf({ versions: [{ ...v1, ...version }] })

const labelText =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

describe('defaults of CustomResourceDefinitions', () => {
  it('fill in names, conversion and stored versions', () => {
    const { spec, status } = crdOf()
    const { names: given, conversion } = spec as { names: unknown; conversion: unknown }
    assert.deepEqual(given, { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' })
    assert.deepEqual(conversion, { strategy: 'None' })
    assert.deepEqual(status, { storedVersions: ['v1'] })
  })

  it('fill in the port of a conversion webhook', () => {
    const service = { namespace: 'n', name: 's' }
    const webhook = { clientConfig: { service }, conversionReviewVersions: ['v1'] }
    const { spec } = crdOf({ conversion: { strategy: 'Webhook', webhook } })
    const expected = {
      clientConfig: { service: { ...service, port: 443 } },
      conversionReviewVersions: ['v1'],
    }
    assert.deepEqual((spec as { conversion: unknown }).conversion, { strategy: 'Webhook', webhook: expected })
  })

  it('keep given values', () => {
    const once = crdOf(
      { names: { ...names, singular: 'w', listKind: 'Widgets' } },
      { status: { storedVersions: ['v1', 'v2'] } },
    )
    assert.deepEqual(defaultCustomResourceDefinition(once), once)
  })
})

describe('CustomResourceDefinitions', () => {
  it('are accepted when they are good', () => assert.deepEqual(errorsOf({}), []))

  it('may be of the groups of Kubernetes that are no domains, as in kcp', () => {
    for (const [group, name] of [
      ['apps', 'widgets.apps'],
      ['', 'widgets.core'],
    ])
      assert.deepEqual(errorsOf({ group }, { metadata: { name } }), [])
  })

  const cases: readonly (readonly [spec: object, ...texts: readonly string[]])[] = [
    [
      { group: '' },
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
    ],
    [
      { group: 'example' },
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "example": should be a domain with at least one dot',
    ],
    [{ scope: '' }, 'spec.scope: Required value'],
    [
      { scope: 'Global' },
      'spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"',
    ],
    [
      { versions: [{ ...v1, storage: false }] },
      'spec.versions: Invalid value: ["v1"]: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: []: must have at least one stored version',
    ],
    [
      { versions: [v1, { ...v1, storage: false }] },
      'spec.versions: Invalid value: ["v1","v1"]: must contain unique version names',
    ],
    [
      { names: { ...names, kind: 'Wid_get' } },
      `spec.names.kind: Invalid value: "Wid_get": may have mixed case, but should otherwise match: ${labelText}`,
      `spec.names.singular: Invalid value: "wid_get": ${labelText}`,
      `spec.names.listKind: Invalid value: "Wid_getList": may have mixed case, but should otherwise match: ${labelText}`,
    ],
    [
      { names: { plural: 'widgets' } },
      'spec.names.singular: Required value',
      'spec.names.kind: Required value',
      'spec.names.listKind: Required value',
    ],
    [
      { names: { ...names, listKind: 'Widget' } },
      'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
    ],
    [
      { names: { ...names, shortNames: ['W'], categories: ['all', '1'] } },
      `spec.names.shortNames[0]: Invalid value: "W": ${labelText}`,
      `spec.names.categories[1]: Invalid value: "1": ${labelText}`,
    ],
    [
      { preserveUnknownFields: true },
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
    [
      { conversion: { strategy: 'Magic' } },
      'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
    ],
    [
      { conversion: { strategy: 'None', webhook: {} } },
      'spec.conversion.webhook: Forbidden: should not be set when strategy is not set to Webhook',
    ],
    [
      { conversion: { strategy: 'Webhook' } },
      'spec.conversion.webhook.clientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.webhook.conversionReviewVersions: Required value',
    ],
    [
      {
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'http://a/' }, conversionReviewVersions: ['v2', 'v2'] },
        },
      },
      'spec.conversion.webhook.clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[:port]/path',
      'spec.conversion.webhook.conversionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'spec.conversion.webhook.conversionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ],
    [
      {
        conversion: {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { service: { name: 'a', port: 0, path: 'x' } },
            conversionReviewVersions: ['v1'],
          },
        },
      },
      'spec.conversion.webhook.clientConfig.service.namespace: Required value: service namespace is required',
      'spec.conversion.webhook.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
      'spec.conversion.webhook.clientConfig.service.path: Invalid value: "x": must start with a \'/\'',
    ],
  ]
  for (const [spec, ...expected] of cases)
    it(expected[0] ?? '', () => assert.deepEqual([...errorsOf(spec)].sort(), [...expected].sort()))

  const column = { name: 'C', type: 'string', jsonPath: '.spec.color' }
  const versions: readonly (readonly [version: object, ...texts: readonly string[]])[] = [
    [{ name: 'V1' }, `spec.versions[0].name: Invalid value: "V1": ${labelText}`],
    [{ schema: {} }, 'spec.versions[0].schema.openAPIV3Schema: Required value'],
    [
      { schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } },
      'spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    ],
    [
      { deprecationWarning: 'old' },
      'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
    ],
    [
      { deprecated: true, deprecationWarning: '' },
      'spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string',
    ],
    [
      { deprecated: true, deprecationWarning: 'ä\u0007' },
      'spec.versions[0].deprecationWarning: Invalid value: "ä\\a": must only contain printable UTF-8 characters; non-printable character found at index 2',
    ],
    [
      { additionalPrinterColumns: [{ ...column, type: 'text' }] },
      'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    ],
    [
      { additionalPrinterColumns: [{ ...column, format: 'odd' }] },
      'spec.additionalPrinterColumns[0].format: Invalid value: "odd": must be one of byte,date,date-time,double,float,int32,int64,password',
    ],
    [
      { additionalPrinterColumns: [{ ...column, jsonPath: 'spec' }] },
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
    ],
    [
      { additionalPrinterColumns: Array(2_001).fill({}) },
      'spec.additionalPrinterColumns: Too many: 2001: must have at most 2000 items',
    ],
    [
      { additionalPrinterColumns: [{}] },
      'spec.additionalPrinterColumns[0].name: Required value',
      'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[0].JSONPath: Required value',
    ],
    [
      {
        subresources: {
          scale: {
            specReplicasPath: '.status.n',
            statusReplicasPath: '.status.n[0]',
            labelSelectorPath: '.x',
          },
        },
      },
      'spec.subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec',
      'spec.subresources.scale.statusReplicasPath: Invalid value: ".status.n[0]": must be a json path in the dot notation',
      'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
    ],
    [
      { subresources: { scale: {} } },
      'spec.subresources.scale.specReplicasPath: Required value',
      'spec.subresources.scale.statusReplicasPath: Required value',
    ],
    [
      {
        subresources: { status: {} },
        schema: { openAPIV3Schema: { ...schema, anyOf: [{ required: ['spec'] }] } },
      },
      'spec.validation.openAPIV3Schema: Invalid value: "anyOf": only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
    [
      { selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.color' }] },
      'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.color"',
    ],
    [
      {
        selectableFields: [{}, { jsonPath: '.spec' }, { jsonPath: '.nope' }, { jsonPath: ".spec['color']" }],
      },
      'spec.selectableFields[0].jsonPath: Required value',
      'spec.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[2].jsonPath: Invalid value: ".nope": is an invalid path: does not refer to a valid field',
      `spec.selectableFields[3].jsonPath: Invalid value: ".spec['color']": is an invalid path: array notation is not allowed`,
    ],
  ]
  for (const [version, ...expected] of versions)
    it(expected[0] ?? '', () => assert.deepEqual(versionErrors(version), expected))

  it('have errors of per-version fields at the path of the version', () => {
    const wrong = { schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }
    const v2 = { ...v1, name: 'v2', storage: false }
    const at =
      'schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields'
    assert.deepEqual(errorsOf({ versions: [v1, { ...v2, ...wrong }] }), [`spec.versions[1].${at}`])
    assert.deepEqual(
      errorsOf({
        versions: [
          { ...v1, ...wrong },
          { ...v2, ...wrong },
        ],
      }),
      [`spec.validation.${at.slice('schema.'.length)}`],
    )
  })

  it('have at most eight selectable fields', () => {
    const fields = [...'abcdefghi']
    const properties = Object.fromEntries(fields.map(f => [f, { type: 'string' }]))
    const version = {
      schema: { openAPIV3Schema: { type: 'object', properties } },
      selectableFields: fields.map(f => ({ jsonPath: `.${f}` })),
    }
    assert.deepEqual(versionErrors(version), [
      'spec.selectableFields: Too many: 9: must have at most 8 items',
    ])
  })

  it('of protected groups need an approval', () => {
    const approve = (annotations?: object): readonly string[] =>
      errorsOf(
        { group: 'x.k8s.io' },
        { metadata: { name: 'widgets.x.k8s.io', ...(annotations === undefined ? {} : { annotations }) } },
      )
    const path = 'metadata.annotations[api-approved.kubernetes.io]'
    const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
    assert.deepEqual(approve(), [
      `${path}: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", ${see}`,
    ])
    assert.deepEqual(approve({ 'api-approved.kubernetes.io': 'yes' }), [
      `${path}: Invalid value: "yes": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", ${see}`,
    ])
    assert.deepEqual(approve({ 'api-approved.kubernetes.io': 'unapproved, experimental' }), [])
    assert.deepEqual(approve({ 'api-approved.kubernetes.io': 'https://github.com/x/y/pull/1' }), [])
  })

  it('may not spend all time on regular expressions', () => {
    const pattern = '(?:a{1000})'.repeat(15)
    const properties = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`p${i}`, { type: 'string', pattern }]),
    )
    assert.deepEqual(
      errorsOf({ versions: [{ ...v1, schema: { openAPIV3Schema: { type: 'object', properties } } }] }),
      ['spec.versions: Forbidden: total size of patterns exceeds the limit, use fewer or shorter patterns'],
    )
  })

  it('never fail, whatever their shape', () => {
    for (const spec of [
      undefined,
      null,
      1,
      [],
      { names: 1, versions: [null, { schema: [] }], conversion: [] },
    ])
      assert.ok(atOnce(validateCustomResourceDefinition({ ...crdOf(), spec })).length > 0)
  })
})
