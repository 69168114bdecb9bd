import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, run } from '../../support/oriel.ts'

describe('a front proxy with a bad mapping file', () => {
  for (const [what, text, problem] of [
    ['nothing in it', '', 'line 1: there is no list of mappings'],
    ['a list that is none', 'path: /', 'line 1: there is no list of mappings'],
    [
      'a missing field',
      '- path: /clusters/\n  backend: https://a\n',
      'line 1: field "backend_server_ca" is missing',
    ],
    [
      'a backend without TLS',
      '- path: /clusters/\n  backend: http://a\n',
      'line 2: field "backend" is "http://a", which is not an https URL',
    ],
    [
      'an invalid path',
      '- path: clusters\n',
      'line 1: field "path" is "clusters", which is not a path such as /services/',
    ],
    ['a broken document', '- path: [\n', 'error converting YAML to JSON'],
  ] as const)
    it(`reports the line of ${what}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'oriel-mapping-'))
      const file = join(folder, 'mapping.yaml')
      await writeFile(file, text)
      const args = ['--mapping-file', file, '--root-kubeconfig', file, '--shards-kubeconfig', file]
      const { code, stderr } = await run(process.execPath, [compiled, 'front-proxy', ...args])
      assert.equal(code, 1)
      assert.ok(stderr.startsWith(`oriel: ${file}: ${problem}`), stderr)
      await rm(folder, { recursive: true })
    })
})
