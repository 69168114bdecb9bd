import assert from 'node:assert/strict'
import fc from 'fast-check'
import { formatYaml, parseYaml } from './yaml.ts'
import { yamlParts } from './yamlparts.ts'

describe('YAML in parts', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('a', ' ', '\n', '-', ':', '#') }))
  const { value } = fc.letrec(tie => ({
    value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.constant(null), tie('list'), tie('map')),
    list: fc.array(tie('value')),
    map: fc.dictionary(text, tie('value')),
  }))

  it('is the text of the whole, except for the quotes of document marks', () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 9 }), (whole, most) => {
        const joined = [...yamlParts(whole, most)].join('')
        if (/---|\.\.\./.test(joined))
          assert.deepEqual(parseYaml(joined).value, parseYaml(formatYaml(whole)).value)
        else assert.equal(joined, formatYaml(whole))
      }),
      { numRuns: 2_000 },
    )
  })

  it('quotes the key of a merge, as Go does', () => {
    const value = [{ '<<': { a: 1 }, b: '<<' }]
    assert.equal(formatYaml(value), '- "<<":\n    a: 1\n  b: "<<"\n')
    assert.deepEqual(parseYaml(formatYaml(value)).value, value)
    assert.equal([...yamlParts(value, 1)].join(''), formatYaml(value))
  })

  it('has a limited number of values in each part', () => {
    const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, String(i)]))
    const items = [{ data }, { data: { a: data } }]
    const parts = [...yamlParts({ items })]
    assert.equal(parts.join(''), formatYaml({ items }))
    assert.ok(Math.max(...parts.map(part => part.split('\n').length)) <= 201)
  })
})
