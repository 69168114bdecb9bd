import assert from 'node:assert/strict'
import { formatCheck } from './formats.ts'

const cases: readonly (readonly [format: string, good: readonly string[], bad: readonly string[]])[] = [
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901', 'x']],
  [
    'uri',
    ['http://a.b/c?d=%zz', '/abs/path', 'mailto:a', 'https://[::1]:80/', 'http://u:p@h:1/', '*', 'http://ä/'],
    ['', 'relative', 'http://a b/', '/%zz', 'http://a:x/', 'a\nb'],
  ],
  [
    'email',
    ['a@b', 'a.b+c@d.example', 'Bob <bob@example.com>', '"a b"@c', 'ü@ö.de', '"x y" <a@[127.0.0.1]>'],
    ['', 'a', 'a@', '@b', 'a@b@c', 'a b@c', '<a@b', 'a..b@c'],
  ],
  [
    'hostname',
    ['a', 'a-b', 'www.example.com', '1.example', 'ä.de'],
    ['', '-a', 'a_b', 'a.b.', 'a.1', `${'a'.repeat(64)}.de`],
  ],
  [
    'ipv4',
    ['1.2.3.4', '010.0.0.1', '::ffff:1.2.3.4'],
    ['1.2.3', '256.1.1.1', '1.2.3.4.', '::1', '1.2.3.4.5'],
  ],
  ['ipv6', ['::1', 'fe80::1', '::ffff:1.2.3.4'], ['1.2.3.4', 'fe80::1%eth0', ':::', '']],
  ['cidr', ['10.0.0.0/8', '::/0', '::1/128'], ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0/8', '/8']],
  [
    'mac',
    ['01:23:45:67:89:ab', '01-23-45-67-89-AB-cd-ef', '0123.4567.89ab'],
    ['01:23:45:67:89', '01:23-45:67:89:ab', '0123456789ab'],
  ],
  [
    'uuid',
    ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'],
    ['', '123e4567-e89b-12d3-a456-42661417400'],
  ],
  ['uuid3', ['6fa459ea-ee8a-3ca4-894e-db77e160355e'], ['6fa459ea-ee8a-4ca4-894e-db77e160355e']],
  ['uuid4', ['16fd2706-8baf-433b-82eb-8c7fada847da'], ['16fd2706-8baf-433b-c2eb-8c7fada847da']],
  ['uuid5', ['886313e1-3b8a-5372-9b90-0c9aee199e5d'], ['886313e1-3b8a-4372-9b90-0c9aee199e5d']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751042', '978-0321751042', '']],
  ['isbn10', ['0321751043', '0-8044-2957-X'], ['978-0321751041']],
  ['isbn13', ['978-0321751041'], ['0321751043']],
  ['creditcard', ['4111 1111 1111 1111', '378282246310005'], ['4111 1111 1111 1112', '1']],
  ['ssn', ['111-22-3333', '111 22 3333'], ['111223333', '11-222-3333']],
  ['hexcolor', ['#fff', 'AABBCC'], ['#ff', '#ggg']],
  ['rgbcolor', ['rgb(0,255, 10 )'], ['rgb(256,0,0)', 'rgb(0,0)']],
  ['byte', ['', 'aGVsbG8=', 'aaaa'], ['a', 'aaaaa', 'a===', '____', 'aGVsbG8']],
  ['password', ['', 'anything'], []],
  ['date', ['2024-02-29', '0001-01-01'], ['2023-02-29', '2024-13-01', '2024-1-1', '']],
  [
    'date-time',
    ['2024-02-29T23:59:59Z', '2024-02-29t00:00:00.123+01:00'],
    ['2024-02-29', '2024-02-29T24:00:00Z', '2024-02-29T00:00:00', '2024-02-29 00:00:00Z'],
  ],
  ['datetime', ['2024-02-29T23:59:59Z'], ['now']],
  [
    'duration',
    ['1h2m', '-1.5h', '0', '22 ns', '5 days', '2 weeks', '1 hr'],
    ['', '1', 'h', '1 x', '5 monthz x'],
  ],
  ['k8s-short-name', ['a-b'], ['a.b', 'A']],
  ['k8s-long-name', ['a.b'], ['A', '.']],
]

describe('formats', () => {
  for (const [format, good, bad] of cases)
    it(`knows ${format}`, () => {
      const check = formatCheck(format)
      assert.ok(check)
      assert.deepEqual(
        good.filter(text => !check(text)),
        [],
        'refused',
      )
      assert.deepEqual(
        bad.filter(text => check(text)),
        [],
        'accepted',
      )
    })

  it('ignores other formats', () => assert.equal(formatCheck('quantity'), undefined))

  it('stays fast on long hostile text', () => {
    for (const [format] of cases)
      for (const text of [
        '1'.repeat(100_000),
        '1'.repeat(1000),
        'a '.repeat(500),
        '1m'.repeat(500),
        'a.'.repeat(127),
        'a.'.repeat(50_000),
        '"'.repeat(100_000),
        '/%'.repeat(50_000),
      ])
        assert.equal(typeof formatCheck(format)?.(text), 'boolean')
  })
})
