import assert from 'node:assert/strict'
import {
  identityHeaders,
  impersonationHeaders,
  isPrivateHeader,
  privateAuthenticator,
} from './privateheaders.ts'

const user = {
  name: 'jörg, the first',
  groups: ['a,b', 'ünï'],
  uid: '1',
  extra: { 'example.com/Key': ['x', 'ÿ'] },
}

describe('the headers between a server and the process of a view', () => {
  const authenticator = privateAuthenticator('sesame')

  it('have the user, whatever characters its name has', () => {
    assert.deepEqual(authenticator.authenticate({ headers: identityHeaders('sesame', user) }), user)
  })

  it('are refused without the secret, with another one, and without a user', () => {
    const { authorization, ...rest } = identityHeaders('sesame', user)
    const refused = [
      rest,
      { ...rest, authorization: 'Bearer sesam' },
      { ...rest, authorization: 'sesame' },
      identityHeaders('', user),
      { authorization },
      {},
    ]
    for (const headers of refused)
      assert.throws(() => authenticator.authenticate({ headers }), { code: 401 }, JSON.stringify(headers))
  })

  it('cannot come from clients, in any spelling', () => {
    assert.deepEqual(['x-oriel-user', 'x_oriel_user', 'x-oriel-users', 'accept'].map(isPrivateHeader), [
      ...[true, true],
      ...[false, false],
    ])
  })

  it('have each line of the impersonation headers', () => {
    const rawHeaders = [
      'Impersonate-Group',
      'a, b',
      'Accept',
      '*/*',
      'impersonate-group',
      'c',
      'Impersonate-User',
      'x',
    ]
    assert.deepEqual(impersonationHeaders({ headers: {}, rawHeaders }), {
      'impersonate-group': ['a, b', 'c'],
      'impersonate-user': ['x'],
    })
  })
})
