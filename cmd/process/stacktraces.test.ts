import assert from 'node:assert/strict'
import { SourceMap } from 'node:module'
import { build } from 'esbuild'
import { type Generated, type Original, originalsOf } from './stacktraces.ts'

const originalOf = (mappings: string, place: Generated): Original | undefined =>
  originalsOf(mappings, [place])[0]

describe('the mappings of a source map', () => {
  it('lead where Node finds the same places', async () => {
    const { outputFiles } = await build({
      entryPoints: ['cmd/files/kubeconfig.ts'],
      bundle: true,
      platform: 'node',
      outdir: 'unwritten',
      sourcemap: 'external',
      write: false,
    })
    const text = (suffix: string): string => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? ''
    const map = JSON.parse(text('.map'))
    const nodes = new SourceMap(map)
    let found = 0
    for (const [line, code] of text('.js').split('\n').slice(0, 2_000).entries())
      for (let column = 0; column < code.length; column += 7) {
        const entry = nodes.findEntry(line, column)
        const original = originalOf(map.mappings, { line, column })
        if (!('originalSource' in entry) || entry.generatedLine !== line) continue
        found++
        assert.deepEqual(original && [map.sources[original.source], original.line, original.column], [
          entry.originalSource,
          entry.originalLine,
          entry.originalColumn,
        ])
      }
    assert.ok(found > 100)
  })

  it('say nothing of what comes from nowhere', () => {
    assert.equal(originalOf('', { line: 0, column: 0 }), undefined)
    assert.equal(originalOf(';;AAAA', { line: 1, column: 3 }), undefined)
    assert.equal(originalOf('EAAA', { line: 0, column: 1 }), undefined)
    assert.deepEqual(originalOf(';;AAAA', { line: 2, column: 9 }), { source: 0, line: 0, column: 0 })
  })

  it('tell of several places at once, in any order', () => {
    const mappings = 'AAAA,EACE;;GAAA'
    const places = [
      { line: 2, column: 3 },
      { line: 1, column: 0 },
      { line: 0, column: 2 },
      { line: 0, column: 1 },
    ]
    assert.deepEqual(
      originalsOf(mappings, places),
      places.map(place => originalOf(mappings, place)),
    )
    assert.deepEqual(originalsOf(mappings, places)[2], { source: 0, line: 1, column: 2 })
  })
})
