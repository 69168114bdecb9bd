import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalQuantity, parseQuantity } from './quantity.ts'

describe('quantities as Kubernetes writes them', () => {
  const cases: readonly (readonly [read: string, written: string | undefined])[] = [
    ['20', '20'],
    ['1e3', '1e3'],
    ['+3', '+3'],
    ['2k', '2k'],
    ['0.10', '100m'],
    ['1.5', '1500m'],
    ['1.5Gi', '1536Mi'],
    ['1024Ki', '1Mi'],
    ['1024Mi', '1Gi'],
    ['1000000', '1M'],
    ['1000m', '1'],
    ['100000m', '100'],
    ['0.5Ki', '512'],
    ['0', '0'],
    ['000', '0'],
    ['-1000', '-1k'],
    ['1000e3', '1e6'],
    ['3Gi', '3Gi'],
    ['abc', undefined],
    ['', undefined],
  ]
  for (const [read, written] of cases)
    it(`${read} → ${written}`, () => assert.equal(canonicalQuantity(read), written))

  it('mean the same, and stay as they are', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3', 'E2')
    const number = fc.tuple(
      fc.integer({ min: -99999, max: 99999 }),
      fc.stringMatching(/^(\.[0-9]{1,4})?$/),
      suffix,
    )
    fc.assert(
      fc.property(number, ([whole, fraction, unit]) => {
        const text = `${whole}${fraction}${unit}`
        const written = canonicalQuantity(text) ?? ''
        const nanos = (quantity: ReturnType<typeof parseQuantity>) =>
          typeof quantity === 'string' ? quantity : quantity.nanos
        assert.equal(nanos(parseQuantity(written)), nanos(parseQuantity(text)))
        assert.equal(canonicalQuantity(written), written)
      }),
    )
  })
})
