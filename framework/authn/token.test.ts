import assert from 'node:assert/strict'
import { type BearerTokenReader, TokenError, tokenAuthenticator } from './token.ts'

const user = { name: 'a', groups: [] }
const other = { name: 'b', groups: [] }
const bad: BearerTokenReader = async () => {
  throw new TokenError('too old')
}

describe('identifying tokens', () => {
  it('calls the next authenticator after one that rejects the token', async () => {
    const { identify } = tokenAuthenticator([async () => undefined, bad, async () => ({ user })], ['us'])
    assert.deepEqual(await identify('t', {}), { user, audiences: ['us'] })
  })

  it('reports all errors', async () => {
    const only = { message: 'invalid bearer token' }
    await assert.rejects(async () => tokenAuthenticator([], ['us']).identify('t', {}), only)
    const all = { message: '[invalid bearer token, too old]' }
    await assert.rejects(async () => tokenAuthenticator([bad], ['us']).identify('t', {}), all)
  })

  it('answers with those audiences that are asked for, of the token or else of the server', async () => {
    const { identify } = tokenAuthenticator([async () => ({ user, audiences: ['x', 'us'] })], ['us', 'we'])
    assert.deepEqual((await identify('t', {})).audiences, ['us'])
    assert.deepEqual((await identify('t', { audiences: ['y', 'x'] })).audiences, ['x'])
    await assert.rejects(async () => identify('t', { audiences: ['y'] }), {
      message: '[invalid bearer token, token audiences ["x" "us"] is invalid for the target audiences ["y"]]',
    })
    const own = tokenAuthenticator([async () => ({ user: other })], ['us'])
    await assert.rejects(async () => own.identify('t', { audiences: ['x'] }), {
      message: 'invalid bearer token',
    })
  })

  it('does not take failures of ours for bad tokens', async () => {
    const broken = tokenAuthenticator([async () => Promise.reject(new TypeError('bug'))], ['us'])
    await assert.rejects(async () => broken.identify('t', {}), TypeError)
  })
})
