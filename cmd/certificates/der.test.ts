import assert from 'node:assert/strict'
import { contentsOf, der, integer, objectIdentifier, octetString, partsOf, sequence, time } from './der.ts'

describe('distinguished encoding', () => {
  const hex = (value: Buffer): string => value.toString('hex')

  it('encodes short and long lengths', () => {
    for (const [length, head] of [
      [0, '0400'],
      [127, '047f'],
      [128, '048180'],
      [256, '04820100'],
      [65_536, '0483010000'],
    ] as const) {
      const value = octetString(Buffer.alloc(length))
      assert.equal(hex(value).slice(0, head.length), head)
      assert.equal(contentsOf(value).length, length)
    }
  })

  it('encodes integers as positive, in the shortest form', () => {
    assert.equal(hex(integer(Buffer.from('80', 'hex'))), '02020080')
    assert.equal(hex(integer(Buffer.from('00007f', 'hex'))), '02017f')
    assert.equal(hex(integer(Buffer.from('0000', 'hex'))), '020100')
  })

  it('encodes the object identifiers of X.690', () => {
    assert.equal(hex(objectIdentifier('1.2.840.10045.4.3.2')), '06082a8648ce3d040302')
    assert.equal(hex(objectIdentifier('2.5.29.17')), '0603551d11')
  })

  it('encodes both forms of time', () => {
    assert.equal(contentsOf(time(new Date('2049-12-31T23:59:59.9Z'))).toString(), '491231235959Z')
    assert.equal(contentsOf(time(new Date('2050-01-01T00:00:00Z'))).toString(), '20500101000000Z')
  })

  it('splits a value into its elements', () => {
    const parts = [integer(Buffer.of(7)), sequence(), der(0xa0, Buffer.alloc(300))]
    assert.deepEqual(partsOf(sequence(...parts)), parts)
    assert.deepEqual(partsOf(sequence()), [])
  })
})
