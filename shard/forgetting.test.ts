import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beside } from '../test/support/source.ts'

interface Found {
  readonly before: Readonly<Record<string, number>>
  readonly after: Readonly<Record<string, number>>
  /** Workspaces that came and went in between. */
  readonly made: number
}

describe('a shard whose workspaces are gone', function () {
  this.timeout(300_000)

  it('remembers none of them in any map, cache or listener', async () => {
    const args = ['--no-warnings', ...beside(import.meta, 'testing/remembering')]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { before, after, made } = JSON.parse(stdout) as Found
    // An appointment of a work queue may still be there, nothing that stays: that would be one for each.
    for (const [what, size] of Object.entries(after))
      assert.ok(size < (before[what] ?? 0) + made, JSON.stringify({ what, before, after }))
  })
})
