import assert from 'node:assert/strict'
import type { Reply, Sent } from '../../support/client.ts'
import { better, expect, post, type Target, widget, widgetsIn } from '../fixture.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Headers and media types of responses, and ignored parts of requests (rules.md 1.20 to 1.59). */
export function headerCases(target: () => Target): void {
  let path = ''
  let one = ''
  before(async () => {
    path = widgetsIn(await target().namespace())
    one = `${path}/a`
    await expect(201, ask(path, post(widget('a', { color: 'red' }))))
  })
  const ask = (at: string, sent?: Sent): Promise<Reply> => target().client(at, sent)
  const asking = (headers: Readonly<Record<string, string>>): Sent => ({ headers })

  it('have an id, are kept by no cache, and let no other origin in (1.47, 1.48, 1.54, 1.58)', async () => {
    for (const at of [one, `${path}/missing`]) {
      const { headers } = await ask(at, asking({ origin: 'https://elsewhere.example' }))
      assert.match(String(headers['audit-id']), uuid)
      assert.equal(headers['cache-control'], 'no-cache, private')
      assert.deepEqual([headers.etag, headers['access-control-allow-origin']], [undefined, undefined])
    }
    const { headers } = await ask(one, asking({ 'audit-id': 'mine', 'if-match': '"other"' }))
    assert.equal(headers['audit-id'], 'mine')
  })

  it('are one line, unless pretty or for curl (1.30)', async () => {
    const linesOf = async (query: string, agent: string) =>
      (await ask(one + query, asking({ 'user-agent': agent }))).text.split('\n').length
    assert.equal(await linesOf('', 'kubectl/v1.32'), 2)
    for (const [query, agent] of [
      ['?pretty=true', 'kubectl/v1.32'],
      ['', 'curl/8'],
      ['', 'Mozilla/5.0'],
    ] as const)
      assert.ok((await linesOf(query, agent)) > 10, `${query} ${agent}`)
    assert.equal(await linesOf('?pretty=false', 'curl/8'), 2)
  })

  it('are YAML on request, and YAML bodies are accepted (1.20, 1.21, 1.26, 1.34)', async () => {
    const { headers, text } = await ask(one, asking({ accept: 'application/yaml' }))
    assert.equal(headers['content-type'], 'application/yaml')
    assert.match(text, /^ {2}color: red$/m)
    const first = await ask(one, asking({ accept: 'application/yaml;q=0.1,application/json;q=0.9' }))
    assert.equal(first.headers['content-type'], 'application/json')
    const name = target().fresh()
    const body = `apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: ${name}}\nspec: {note: "no", color: blue}\n`
    const made = await expect(201, ask(path, post(body, { 'content-type': 'application/yaml' })))
    assert.deepEqual(made.spec, { note: 'no', color: 'blue', size: 1 })
  })

  it('have no body for HEAD (1.13)', async () => {
    const { status, text, headers } = await ask(one, { method: 'HEAD' })
    assert.deepEqual([status, text, headers['content-type']], [200, '', 'application/json'])
  })

  it('are the same whatever the body of a GET (1.37)', async () => {
    const body = { kind: 'DeleteOptions', preconditions: { uid: 'x' } }
    await expect(200, ask(one, { method: 'GET', body, headers: { 'content-type': 'text/plain' } }))
  })

  better(target, 'are refusals of protobuf for custom resources (1.38)', async () => {
    const type = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    assert.equal((await expect(415, ask(path, post('k8s\0', type)))).reason, 'UnsupportedMediaType')
  })

  it('are 404 for unknown paths (1.16)', async () => {
    for (const at of ['/nothing', '/nothing/here']) assert.equal((await ask(at)).status, 404, at)
  })
}
