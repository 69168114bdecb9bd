import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fieldMatcher, labelMatcher } from './matcher.ts'
import { type FieldRequirement, type LabelRequirement, matchesFields, matchesLabels } from './selectors.ts'

const key = fc.constantFrom('a', 'b', 'constructor', 'example.com/b')
const value = fc.constantFrom('', 'a', '7', '12', 'x')
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('in' as const, 'notin' as const), values: fc.array(value) }),
  fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
  fc.record({
    key,
    operator: fc.constantFrom('gt' as const, 'lt' as const),
    values: fc.tuple(fc.constantFrom('8', 'z')),
  }),
)

/** Labels that count how often they are read. */
function counted(labels: Record<string, string>): { labels: Record<string, string>; reads(): number } {
  let reads = 0
  const handler: ProxyHandler<Record<string, string>> = {
    get: (target, name: string) => {
      reads++
      return target[name]
    },
    getOwnPropertyDescriptor: (target, name) => {
      reads++
      return Object.getOwnPropertyDescriptor(target, name)
    },
  }
  return { labels: new Proxy(labels, handler), reads: () => reads }
}

describe('compiled selectors', () => {
  it('select what the requirements select', () => {
    fc.assert(
      fc.property(fc.array(requirement), fc.dictionary(key, value), (requirements, labels) => {
        assert.equal(labelMatcher({ requirements })(labels), matchesLabels({ requirements }, labels))
      }),
      { numRuns: 2_000 },
    )
    const field = fc.record({ field: key, operator: fc.constantFrom('=' as const, '!=' as const), value })
    fc.assert(
      fc.property(fc.array(field), fc.dictionary(key, value), (requirements, fields) => {
        const textOf = (name: string): string => (Object.hasOwn(fields, name) ? (fields[name] ?? '') : '')
        assert.equal(fieldMatcher({ requirements })(textOf), matchesFields({ requirements }, textOf))
      }),
    )
  })

  const operators = ['in', 'notin', 'exists', '!', 'gt'] as const
  for (const operator of operators) {
    it(`read each label a few times, for 5,000 terms with ${operator}`, () => {
      const requirements: LabelRequirement[] = Array.from({ length: 5_000 }, (_, i) => ({
        key: operator === 'in' ? 'a' : `k${i}`,
        operator,
        values: [String(i)],
      }))
      const { labels, reads } = counted({ a: '4999', k1: '2', k2: '3' })
      labelMatcher({ requirements })(labels)
      assert.ok(reads() <= 12, `${reads()} reads`)
    })
  }

  it('read each field once, for 5,000 terms', () => {
    const requirements: FieldRequirement[] = Array.from({ length: 5_000 }, (_, i) => ({
      field: 'metadata.name',
      operator: '!=',
      value: `a${i}`,
    }))
    let reads = 0
    const textOf = (): string => {
      reads++
      return 'b'
    }
    assert.equal(fieldMatcher({ requirements })(textOf), true)
    assert.equal(reads, 1)
  })
})
