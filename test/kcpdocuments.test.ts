import assert from 'node:assert/strict'
import { join } from 'node:path'
import { isThere } from './support/citations.ts'
import { readText } from './support/oriel.ts'
import { root } from './support/source.ts'

describe('the page about the documents of kcp', () => {
  it('cites a test or a reason for each statement', async () => {
    const text = await readText(join(root, 'docs/kcp-documents.md'))
    const rows = text.split('\n').flatMap(line => {
      const [, said, , test] =
        line.split(' | ').length === 3 ? ['', ...line.replace(/^\| | \|$/g, '').split(' | ')] : []
      return said === undefined || test === undefined || said === 'the document says' ? [] : [{ said, test }]
    })
    assert.ok(rows.length > 50)
    assert.deepEqual(
      rows.filter(({ test }) => !isThere(test)),
      [],
    )
  })
})
