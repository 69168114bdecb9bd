import assert from 'node:assert/strict'
import type { Reply, Sent } from '../../support/client.ts'
import { expect, post, put, type Target, widget, widgetsIn } from '../fixture.ts'

/** 403 of users without permissions, and what it precedes (rules.md 1.55, 1.60 and 2.10 to 2.13). */
export function refusalCases(target: () => Target): void {
  let path = ''
  let one = ''
  before(async () => {
    path = widgetsIn(await target().namespace())
    one = `${path}/a`
    await expect(201, target().client(path, post(widget('a'))))
  })
  const nobody = { 'impersonate-user': 'nobody', 'impersonate-group': 'system:authenticated' }
  const refusedTo = (at: string, sent: Sent = {}): Promise<Reply> =>
    target().client(at, { ...sent, headers: { ...sent.headers, ...nobody } })

  it('name the user, the verb, the resource and the object (1.55, 2.10, 2.12)', async () => {
    const reply = await refusedTo(one)
    const { message, ...status } = await expect(403, Promise.resolve(reply))
    assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    const ns = path.split('/').at(-2)
    assert.match(
      message ?? '',
      new RegExp(
        `^widgets\\.example\\.com "a" is forbidden: User "nobody" cannot get resource "widgets" in API group "example\\.com" in the namespace "${ns}": access denied$`,
      ),
    )
    assert.deepEqual(status as object, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Forbidden',
      details: { name: 'a', group: 'example.com', kind: 'widgets' },
      code: 403,
    })
  })

  it('come before what is wrong with the request, without the name of a creation (1.60, 2.13)', async () => {
    const body = JSON.stringify(widget('made'))
    const wrong = post(body.slice(1), { 'content-type': 'text/plain' })
    const { message, details } = await expect(403, refusedTo(path, wrong))
    assert.match(message ?? '', /^widgets\.example\.com is forbidden: User "nobody" cannot create resource/)
    assert.deepEqual(details as object, { group: 'example.com', kind: 'widgets' })
    await expect(403, refusedTo(`${path}/missing`))
    await expect(403, refusedTo(path, put({})))
  })
}
