import assert from 'node:assert/strict'
import { compileViewExpression } from './expression.ts'

const kind = { group: '', version: 'v1', kind: 'ConfigMap', openapi: { type: 'object' } }

/** The selector as text. */
function labelsOf(source: string): string {
  const expression = compileViewExpression(source, kind, 'bool')
  assert.ok('labels' in expression, JSON.stringify(expression))
  return expression.labels
    .map(({ key, operator, values }) => `${key} ${operator} ${values}`.trim())
    .join('; ')
}

describe('the label selector of an expression', () => {
  for (const [source, labels] of [
    ["object.metadata.labels['a'] == 'b'", 'a in b'],
    ["'b' == object.metadata.labels.a", 'a in b'],
    ["object.metadata.labels['a'] in ['b', 'c'] && object.metadata.name != 'x'", 'a in b,c'],
    ["'example.com/a' in object.metadata.labels", 'example.com/a exists'],
    ['has(object.metadata.labels.a)', 'a exists'],
    [
      "object.metadata.labels['a'] == 'b' && (cluster.name == 'x' && object.metadata.labels['c'] == '')",
      'a in b; c in',
    ],
  ] as const)
    it(`is ${labels} for ${source}`, () => assert.equal(labelsOf(source), labels))

  for (const source of [
    "object.metadata.labels['a'] == 'b' || object.metadata.name == 'x'",
    "!(object.metadata.labels['a'] == 'b')",
    "object.metadata.labels['a'] != 'b'",
    "object.metadata.labels['a'] == user.name",
    "object.metadata.annotations['a'] == 'b'",
    "cluster.labels['a'] == 'b'",
    "object.metadata.labels['no key'] == 'b'",
    "object.metadata.labels['a'] == 'no value'",
    "(object.metadata.labels['a'] == 'b') == false",
    "[object].exists(object, object.metadata.labels['a'] == 'b')",
    "object.metadata.labels['a'] == 'b' ? true : true",
  ])
    it(`selects everything for ${source}`, () => assert.equal(labelsOf(source), ''))
})
