import assert from 'node:assert/strict'
import fc from 'fast-check'
import { StatusError } from '../meta/errors.ts'
import { parseFieldSelector, parseLabelSelector } from './parse.ts'
import {
  andLabels,
  formatFieldSelector,
  formatLabelSelector,
  type LabelRequirement,
  matchesFields,
  matchesLabels,
} from './selectors.ts'

const record = <T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T>(shape).map(value => ({ ...value }))

const refused = (parse: (text: string) => unknown, text: string): string => {
  try {
    parse(text)
  } catch (error) {
    assert.ok(error instanceof StatusError)
    assert.equal(error.code, 400)
    return error.message
  }
  return assert.fail(`${text} was accepted`)
}

describe('label selectors', () => {
  const labels = { app: 'web', tier: '', size: '7', in: 'x' }
  const cases: readonly [selector: string, selects: boolean][] = [
    ['', true],
    ['app', true],
    ['!app', false],
    ['! nope', true],
    ['app=web', true],
    ['app==web', true],
    ['app!=web', false],
    ['nope!=web', true],
    ['tier=', true],
    ['tier=,app', true],
    ['app in (web, db)', true],
    ['app in(db,,x)', false],
    ['tier in (a,)', true],
    ['tier in ()', true],
    ['app notin (web)', false],
    ['nope notin (web)', true],
    ['in in (in, x)', true],
    ['in', true],
    ['size>6', true],
    ['size < 7', false],
    ['app > 1', false],
    ['constructor', false],
    ['example.com/a', false],
  ]
  for (const [selector, selects] of cases) {
    it(`${selector || "''"} ${selects ? 'selects' : 'does not select'}`, () => {
      assert.equal(matchesLabels(parseLabelSelector(selector), labels), selects)
    })
  }

  const bad: readonly [selector: string, message: string][] = [
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (=b)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    [
      'a>b',
      `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ]
  for (const [selector, message] of bad) {
    it(`refuses ${selector}`, () => assert.equal(refused(parseLabelSelector, selector), message))
  }
  it('refuses keys and values that no label can have', () => {
    assert.match(
      refused(parseLabelSelector, 'a=_b'),
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "_b": a valid label must/,
    )
    assert.match(
      refused(parseLabelSelector, 'a/b/c'),
      /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a valid label key/,
    )
  })

  const key = fc.constantFrom('a', 'in', 'notin', 'example.com/b', 'A_b.c-d')
  const value = fc.constantFrom('', 'a', 'in', 'notin', 'B_c', '12')
  const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
    record({
      key,
      operator: fc.constantFrom('in', 'notin'),
      values: fc.uniqueArray(value, { minLength: 1 }).map(v => v.sort()),
    }),
    record({ key, operator: fc.constantFrom('exists', '!'), values: fc.constant([]) }),
    record({
      key,
      operator: fc.constantFrom('gt', 'lt'),
      values: fc.nat().map(n => [String(n)]),
    }),
  )

  it('parse back to the formatted selector', () => {
    fc.assert(
      fc.property(fc.array(requirement), requirements => {
        assert.deepEqual(parseLabelSelector(formatLabelSelector({ requirements })), { requirements })
      }),
    )
  })

  it('AND of two is both', () => {
    const found = fc.dictionary(key, value)
    fc.assert(
      fc.property(fc.array(requirement), fc.array(requirement), found, (a, b, labels) => {
        const [first, second] = [{ requirements: a }, { requirements: b }]
        const both = matchesLabels(first, labels) && matchesLabels(second, labels)
        assert.equal(matchesLabels(andLabels(first, second), labels), both)
      }),
    )
  })

  it('have no value that a view can add to those of others', () => {
    const { requirements } = parseLabelSelector('a,!b')
    for (const { values } of requirements)
      assert.throws(() => (values as string[]).push('spoiled'), TypeError)
    assert.deepEqual(parseLabelSelector('c').requirements[0]?.values, [])
  })

  it('fail only with a Status', () => {
    const text = fc.string({ unit: fc.constantFrom(...'a=!<>(),b in notin\t/_é'.split('')) })
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), text => {
        try {
          parseLabelSelector(text)
        } catch (error) {
          assert.ok(error instanceof StatusError)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('field selectors', () => {
  it('parse back to the formatted selector', () => {
    const requirement = record({
      field: fc.constantFrom('metadata.name', 'spec.color'),
      operator: fc.constantFrom('=' as const, '!=' as const),
      value: fc.string({ unit: fc.constantFrom(...'a\\,=!'.split('')) }),
    })
    fc.assert(
      fc.property(fc.array(requirement), requirements => {
        assert.deepEqual(parseFieldSelector(formatFieldSelector({ requirements })), { requirements })
      }),
    )
  })

  it('skip empty terms and compare absent fields as empty', () => {
    const selector = parseFieldSelector(',metadata.name==a,,=,spec.x!=b,')
    assert.equal(
      matchesFields(selector, field => (field === 'metadata.name' ? 'a' : '')),
      true,
    )
    assert.equal(
      matchesFields(selector, () => ''),
      false,
    )
  })

  it('refuse garbage with its place', () => {
    assert.equal(refused(parseFieldSelector, 'a=b,c'), "invalid selector: 'a=b,c'; can't understand 'c'")
    assert.equal(refused(parseFieldSelector, 'a=\\b'), 'invalid field selector: invalid escape sequence: \\b')
    assert.equal(refused(parseFieldSelector, 'a=b\\'), 'invalid field selector: invalid escape sequence: \\')
  })

  it('refuse what is longer than any URL, as those of labels do', () => {
    for (const parse of [parseFieldSelector, parseLabelSelector])
      assert.equal(
        refused(parse, 'a=b,'.repeat(20_000)),
        'a selector may have at most 65536 characters, but this one has 80000',
      )
  })
})
