import assert from 'node:assert/strict'
import type { UserInfo } from '../request/user.ts'
import { identityFields, identityText, identityValue } from './headers.ts'

describe('an identity in headers', () => {
  for (const text of ['ada', 'Jürgen', '山田', 'a b', '', 'system:masters', '🙂', 'Ã¼'])
    it(`is UTF-8, which the receiver reads as it was: ${JSON.stringify(text)}`, () => {
      const value = identityValue(text)
      assert.match(value, /^[\0-\xff]*$/)
      assert.equal(identityText(value), text)
    })

  it('is of one user only: other bytes than UTF-8 are of none', () =>
    assert.equal(identityText('J\xfcrgen'), undefined))

  const ada: UserInfo = { name: 'ada', groups: ['a'] }
  const altered: Readonly<Record<string, (text: string) => UserInfo>> = {
    name: name => ({ ...ada, name }),
    UID: uid => ({ ...ada, uid }),
    group: group => ({ ...ada, groups: ['a', group] }),
    'extra value': value => ({ ...ada, extra: { a: [value] } }),
    'extra key': key => ({ ...ada, extra: { [key]: ['a'] } }),
  }
  const texts = [
    ' system:masters',
    'system:masters ',
    '\tx',
    'x\t',
    'x\r\nX-Remote-Group: y',
    'x\0',
    '\ud800',
  ]
  for (const [part, user] of Object.entries(altered))
    it(`is refused where a receiver would read another ${part}`, () => {
      for (const text of texts)
        assert.throws(() => identityFields(user(text)), { code: 403 }, JSON.stringify(text))
    })
})
