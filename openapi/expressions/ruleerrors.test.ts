import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { fieldErrorBody } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { ruleErrors } from './ruleerrors.ts'

const errorsOf = (
  spec: JSONSchemaProps,
  rules?: JSONSchemaProps['x-kubernetes-validations'],
): readonly string[] => {
  const own = rules === undefined ? {} : { 'x-kubernetes-validations': rules }
  return atOnce(ruleErrors({ type: 'object', properties: { spec }, ...own }, 'schema')).map(
    error => `${error.field}: ${fieldErrorBody(error)}`,
  )
}

/** Schemas of `spec`, and Kubernetes' errors when they are written. */
const rows: readonly (readonly [spec: JSONSchemaProps, errors: readonly string[]])[] = [
  [
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.b > 1' }],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b \\u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b > 1\n | ....^',
    ],
  ],
  [
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.a' }],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
    ],
  ],
  [
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [
        { rule: 'self.a > 1', messageExpression: 'self.a' },
        { rule: 'self.a > 1', messageExpression: "'x' + self.z" },
        { rule: 'self.a > 1', optionalOldSelf: true },
      ],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].messageExpression: Invalid value: {"Rule":"self.a \\u003e 1","Message":"","MessageExpression":"self.a","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string',
      'schema.properties[spec].x-kubernetes-validations[1].messageExpression: Invalid value: {"Rule":"self.a \\u003e 1","Message":"","MessageExpression":"\'x\' + self.z","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression compilation failed: ERROR: <input>:1:11: undefined field \'z\'\n | \'x\' + self.z\n | ..........^',
      'schema.properties[spec].x-kubernetes-validations[2].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
    ],
  ],
  [
    {
      type: 'array',
      items: {
        type: 'object',
        properties: { a: { type: 'integer' } },
        'x-kubernetes-validations': [{ rule: 'self.a >= oldSelf.a' }],
      },
    },
    [
      'schema.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: "self.a >= oldSelf.a": oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[spec]',
    ],
  ],
  [
    { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self.size() > 1' }] } },
    [],
  ],
  [
    {
      type: 'array',
      items: {
        type: 'array',
        items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self.matches('^a.*b$')" }] },
      },
    },
    [
      'schema.properties[spec].items.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].items.items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x != y))' }],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    {
      type: 'array',
      maxItems: 100,
      items: { type: 'string' },
      'x-kubernetes-validations': [
        { rule: 'self.all(x, self.all(y, x != y))' },
        { rule: 'self.all(x, self.exists(y, x.contains(y)))' },
      ],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].x-kubernetes-validations[1].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].x-kubernetes-validations[1].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'self == self' }] },
    [
      'schema.properties[spec].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ],
  ],
  [
    {
      type: 'object',
      additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true },
      'x-kubernetes-validations': [{ rule: 'self == self' }],
    },
    [
      'schema.properties[spec].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ],
  ],
  [
    {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'string' } },
      'x-kubernetes-validations': [
        { rule: "has(self.b) && int('x') > 1" },
        { rule: "duration('q') > duration('1s')" },
        { rule: "self.b.find('(') == ''" },
        { rule: '1 +' },
        { rule: 'self.metadata' },
      ],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"has(self.b) \\u0026\\u0026 int(\'x\') \\u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: program instantiation failed: type conversion error from \'string\' to \'int\'',
      'schema.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"duration(\'q\') \\u003e duration(\'1s\')","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:10: invalid duration argument\n | duration(\'q\') > duration(\'1s\')\n | .........^',
      'schema.properties[spec].x-kubernetes-validations[2].rule: Invalid value: {"Rule":"self.b.find(\'(\') == \'\'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: program instantiation failed: error parsing regexp: missing closing ): `(`',
      'schema.properties[spec].x-kubernetes-validations[3].rule: Invalid value: {"Rule":"1 +","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input \'<EOF>\' expecting {\'[\', \'{\', \'(\', \'.\', \'-\', \'!\', \'true\', \'false\', \'null\', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^',
      'schema.properties[spec].x-kubernetes-validations[4].rule: Invalid value: {"Rule":"self.metadata","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'metadata\'\n | self.metadata\n | ....^',
    ],
  ],
  [
    {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: {
          type: 'string',
          'x-kubernetes-validations': [{ rule: "self.contains('a')" }, { rule: 'self == oldSelf' }],
        },
      },
    },
    [
      'schema.properties[spec].additionalProperties.additionalProperties.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].additionalProperties.additionalProperties.x-kubernetes-validations[1].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].additionalProperties.additionalProperties.x-kubernetes-validations[1].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema.properties[spec].additionalProperties.additionalProperties.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    {
      type: 'object',
      properties: {
        'x-y': {
          type: 'object',
          'x-kubernetes-map-type': 'atomic',
          properties: {
            z: { type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
          },
        },
      },
    },
    [],
  ],
  [
    {
      type: 'string',
      'x-kubernetes-validations': [
        { rule: "self.split('').all(x, self.split('').all(y, x != y))" },
        { rule: "self.startsWith('a')" },
        { rule: 'oldSelf == self' },
      ],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    {
      type: 'array',
      items: { type: 'string', maxLength: 200 },
      maxItems: 1000,
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.exists_one(y, x == y))' }],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 8.4x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              n: {
                type: 'string',
                maxLength: 64,
                'x-kubernetes-validations': [{ rule: "self.matches('^[a-z]+$')" }],
              },
            },
            'x-kubernetes-validations': [{ rule: "self.n != 'q'" }],
          },
        },
      },
    },
    [
      'schema.properties[spec].properties[l].items.properties[n].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 5.6x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    {
      type: 'string',
      maxLength: 100000,
      'x-kubernetes-validations': [
        { rule: 'self.contains(self)' },
        { rule: 'self.contains(self + self)' },
        { rule: 'self.matches(self)' },
      ],
    },
    [
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].x-kubernetes-validations[1].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].x-kubernetes-validations[2].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'schema.properties[spec].x-kubernetes-validations[2].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema.properties[spec].x-kubernetes-validations[1].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 88.0x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
]

describe('rules of a schema', () => {
  for (const [spec, errors] of rows)
    it(errors[0] ?? 'may be right', () => assert.deepEqual(errorsOf(spec), errors))

  it('see the names of the metadata of the whole object, and nothing else of it', () => {
    const spec: JSONSchemaProps = { type: 'object' }
    assert.deepEqual(errorsOf(spec, [{ rule: "self.metadata.name == 'x' && self.kind == 'x'" }]), [])
    assert.match(
      errorsOf(spec, [{ rule: 'self.metadata.labels == {}' }])[0] ?? '',
      /undefined field 'labels'/,
    )
  })

  it('are checked in steps, since each expression may be long', () => {
    const rule = { rule: '1 == 1', messageExpression: "'a' + 'b'" }
    const stepsOf = (rules: readonly (typeof rule)[]): number =>
      [
        ...ruleErrors(
          { type: 'object', properties: { spec: {} }, 'x-kubernetes-validations': rules },
          'schema',
        ),
      ].length
    assert.equal(stepsOf([rule, rule]) - stepsOf([rule]), 5)
  })
})
