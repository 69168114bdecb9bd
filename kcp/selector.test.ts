import assert from 'node:assert/strict'
import fc from 'fast-check'
import { labelMatcher } from '../framework/selectors/matcher.ts'
import { parseLabelSelector } from '../framework/selectors/parse.ts'
import { formatLabelSelector, matchesLabels } from '../framework/selectors/selectors.ts'
import { type MetaV1LabelSelector, requirementsOf, selectorErrors, selectorProblem } from './selector.ts'

const labels = { team: 'blue', secret: '' }
const selects = (selector: MetaV1LabelSelector): boolean => matchesLabels(requirementsOf(selector), labels)

describe('a selector of an object', () => {
  const expression = (key: string, operator: string, values?: readonly string[]): MetaV1LabelSelector =>
    ({ matchExpressions: [{ key, operator, ...(values && { values }) }] }) as MetaV1LabelSelector

  it('selects what its labels and expressions select', () => {
    assert.deepEqual(
      [
        {},
        { matchLabels: { team: 'blue' } },
        expression('team', 'In', ['blue', 'red']),
        expression('team', 'NotIn', ['red']),
        expression('secret', 'Exists'),
        expression('other', 'DoesNotExist', []),
      ].map(selects),
      [true, true, true, true, true, true],
    )
    assert.equal(selects({ matchLabels: { team: 'red' } }), false)
  })

  it('has in one text why Kubernetes cannot read it', () => {
    assert.deepEqual(
      [
        {},
        expression('team', 'In', ['blue']),
        expression('team', 'Near'),
        expression('team', 'In', []),
        { matchLabels: { 'a b': '' } },
      ].map(selector => selectorProblem(selector)?.slice(0, 45)),
      [
        undefined,
        undefined,
        '"Near" is not a valid label selector operator',
        "values: Invalid value: []: for 'in', 'notin' ",
        'matchLabels: Invalid value: "a b": name part ',
      ],
    )
  })

  it('selects nothing where Kubernetes refuses it, instead of more than is meant', () => {
    for (const selector of [
      expression('team', 'in', ['red']),
      expression('team', 'constructor', ['red']),
      expression('secret', 'doesNotExist'),
      expression('team', 'gt', ['1']),
      expression('team', 'In'),
      expression('team', 'NotIn', []),
      expression('team', 'Exists', ['red']),
      expression('other', 'DoesNotExist', ['blue']),
      expression('team', 'NotIn', ['not a value']),
      expression('not a key', 'DoesNotExist'),
    ])
      assert.equal(selects(selector), false, JSON.stringify(selector))
  })

  it('has errors that name the field', () => {
    const selector = {
      matchLabels: { 'not a key': 'blue', team: 'not a value' },
      matchExpressions: [
        { key: 'a', operator: 'in', values: ['x'] },
        { key: 'a', operator: 'NotIn' },
        { key: 'a', operator: 'Exists', values: ['x'] },
        { key: '', operator: 'In', values: ['x', '?'] },
      ],
    } as unknown as MetaV1LabelSelector
    assert.deepEqual(
      selectorErrors(selector, 'spec.selector').map(({ field, type }) => `${field} ${type}`),
      [
        'matchLabels FieldValueInvalid',
        'matchLabels FieldValueInvalid',
        'matchExpressions[0].operator FieldValueInvalid',
        'matchExpressions[1].values FieldValueRequired',
        'matchExpressions[2].values FieldValueForbidden',
        'matchExpressions[3].key FieldValueInvalid',
        'matchExpressions[3].key FieldValueInvalid',
        'matchExpressions[3].values[1] FieldValueInvalid',
      ].map(text => `spec.selector.${text}`),
    )
  })

  it('selects the same wherever it is evaluated, also as a query parameter', () => {
    const key = fc.constantFrom('team', 'secret', 'a b', '')
    const value = fc.constantFrom('blue', 'red', '', 'a,b', 'x=y')
    const selector = fc.record({
      matchLabels: fc.dictionary(key, value),
      matchExpressions: fc.array(
        fc.record({
          key,
          operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'in', '__proto__', ''),
          values: fc.array(value),
        }),
      ),
    }) as fc.Arbitrary<MetaV1LabelSelector>
    fc.assert(
      fc.property(selector, fc.dictionary(key, value), (each, found) => {
        const known = requirementsOf(each)
        const sent = parseLabelSelector(formatLabelSelector(known))
        assert.equal(labelMatcher(known)(found), matchesLabels(known, found))
        assert.equal(matchesLabels(sent, found), matchesLabels(known, found))
      }),
    )
  })
})
