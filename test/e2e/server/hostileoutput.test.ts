import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { explanationAnnotation } from '../../../authz/reviews/annotations.ts'
import { compiled, run } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { testCertificates } from '../../support/wire.ts'

/** Clears the screen, forges a line, and turns the direction of the text. */
const hostile = 'x\u001b[2J\u009b2J\r\noriel: forged\u202e\u0000'
const metadata = { name: hostile, namespace: hostile, annotations: { 'kcp.io/cluster': hostile } }
const condition = { type: 'Ready', status: 'False', message: hostile }
const workspace = {
  metadata,
  spec: { URL: hostile, mount: { ref: {}, type: 'Workspace' } },
  status: { phase: hostile, conditions: [condition] },
}
const step = { authorizer: hostile, decision: 'Denied', reason: hostile, workspace: hostile }
const explanation = { allowed: false, steps: [step], missing: [{ ...step, why: hostile, grant: [] }] }
const annotations = { [explanationAnnotation]: JSON.stringify(explanation) }
const review = { metadata: { annotations }, status: { allowed: false, reason: hostile } }
const table = {
  columnDefinitions: [{ name: hostile, priority: 0 }],
  rows: [{ cells: [hostile], object: { metadata } }],
}
const resource = {
  resource: 'notes',
  responseKind: { group: '', version: 'v1', kind: 'Note' },
  scope: 'Cluster',
  verbs: ['list', 'watch', 'get'],
}
const discovered = {
  items: [{ metadata: { name: '' }, versions: [{ version: 'v1', resources: [resource] }] }],
}
const label = JSON.stringify(hostile).slice(1, -1)
const metrics = `oriel_view_ready{view="${label}",path="${label}",reason="${label}"} 0\n`

/** The body for a path, or undefined for an error. */
function bodyOf(path: string, accept: string): object | string | undefined {
  if (path.startsWith('/clusters/broken')) return undefined
  if (path === '/metrics') return metrics
  if (path === '/version') return { gitVersion: hostile }
  if (/accessreviews|localsubject/.test(path)) return review
  if (accept.includes('as=Table')) return table
  if (accept.includes('apidiscovery') || /\/apis?$/.test(path)) return discovered
  return { metadata: { resourceVersion: '1' }, items: [workspace], resources: [] }
}

const commands: readonly (readonly string[])[] = [
  ['tree'],
  ['doctor'],
  ['doctor', '--output', 'json'],
  ['explain', 'get', 'notes'],
  ['explain', 'get', 'notes', '--output', 'yaml'],
  ['explain', 'get', 'notes', '--output', 'json'],
  ['views'],
  ['views', '--output', 'json'],
  ['query', '', 'notes'],
  ['query', '', 'notes', '--output', 'json'],
]

describe('the output of commands, from a server with hostile texts', () => {
  let server: Server
  let url: string
  let kubeconfig: string

  before(async () => {
    const { tls } = testCertificates()
    server = createServer({ cert: tls.cert, key: tls.key }, (request, response) => {
      const found = bodyOf(new URL(request.url ?? '', 'http://a').pathname, request.headers.accept ?? '')
      const body = found ?? { kind: 'Status', message: hostile, reason: hostile, code: 403 }
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      response.setHeader('warning', '299 - "\u009b2J"')
      const status = found === undefined ? 403 : found === review ? 201 : 200
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    kubeconfig = join(await temporaryDirectory('hostile'), 'kubeconfig')
    const ca = Buffer.from(tls.clientCA).toString('base64')
    const config = {
      'current-context': 'a',
      clusters: [
        { name: 'a', cluster: { server: `${url}/clusters/root`, 'certificate-authority-data': ca } },
      ],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      users: [{ name: 'a', user: { token: 'a' } }],
    }
    await writeFile(kubeconfig, JSON.stringify(config))
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  async function printed(args: readonly string[]): Promise<string> {
    const { stdout, stderr } = await run(process.execPath, [compiled, ...args, '--kubeconfig', kubeconfig])
    return stdout + stderr
  }

  it('has none in errors', async () => {
    const text = await printed(['tree', '--server', `${url}/clusters/broken`])
    assert.match(text, /^oriel: .*\\u001b\[2J\\u009b2J\\r\\noriel: forged\\u202e\\u0000\.\n$/)
  })

  for (const args of commands)
    it(`has no control characters, and no lines of its texts: oriel ${args.join(' ')}`, async () => {
      const text = await printed(args)
      assert.match(text, /\\u001b\[2J|\\u009b2J/)
      assert.doesNotMatch(text, /[^\P{Cc}\n\t]|\u202e/u)
      assert.doesNotMatch(text, /^oriel: forged/m)
    })
})
