import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beside } from '../test/support/source.ts'

interface Found {
  readonly before: Readonly<Record<string, number>>
  readonly after: Readonly<Record<string, number>>
  /** The number of workspaces that were created and deleted. */
  readonly made: number
}

describe('a shard whose workspaces were deleted', function () {
  this.timeout(300_000)

  it('has none of them in any map, cache or listener', async () => {
    const args = ['--no-warnings', ...beside(import.meta, 'testing/retainedobjects')]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { before, after, made } = JSON.parse(stdout) as Found
    // A delayed key of a work queue may still exist, but nothing per workspace.
    for (const [what, size] of Object.entries(after))
      assert.ok(size < (before[what] ?? 0) + made, JSON.stringify({ what, before, after }))
  })
})
