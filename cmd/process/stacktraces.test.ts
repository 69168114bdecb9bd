import assert from 'node:assert/strict'
import { SourceMap } from 'node:module'
import { Script } from 'node:vm'
import { build } from 'esbuild'
import {
  type GeneratedPosition,
  mapStackTraces,
  type SourcePosition,
  sourcePositionsOf,
} from './stacktraces.ts'

const sourcePositionOf = (mappings: string, position: GeneratedPosition): SourcePosition | undefined =>
  sourcePositionsOf(mappings, [position])[0]

describe('the mappings of a source map', () => {
  it('are decoded as by Node', async () => {
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
        const source = sourcePositionOf(map.mappings, { line, column })
        if (!('originalSource' in entry) || entry.generatedLine !== line) continue
        found++
        assert.deepEqual(source && [map.sources[source.source], source.line, source.column], [
          entry.originalSource,
          entry.originalLine,
          entry.originalColumn,
        ])
      }
    assert.ok(found > 100)
  })

  it('have no source position for unmapped code', () => {
    assert.equal(sourcePositionOf('', { line: 0, column: 0 }), undefined)
    assert.equal(sourcePositionOf(';;AAAA', { line: 1, column: 3 }), undefined)
    assert.equal(sourcePositionOf('EAAA', { line: 0, column: 1 }), undefined)
    assert.deepEqual(sourcePositionOf(';;AAAA', { line: 2, column: 9 }), { source: 0, line: 0, column: 0 })
  })

  it('are decoded for several positions at once, in any order', () => {
    const mappings = 'AAAA,EACE;;GAAA'
    const positions = [
      { line: 2, column: 3 },
      { line: 1, column: 0 },
      { line: 0, column: 2 },
      { line: 0, column: 1 },
    ]
    assert.deepEqual(
      sourcePositionsOf(mappings, positions),
      positions.map(position => sourcePositionOf(mappings, position)),
    )
    assert.deepEqual(sourcePositionsOf(mappings, positions)[2], { source: 0, line: 1, column: 2 })
  })
})

describe('a stack trace', () => {
  const { prepareStackTrace } = Error
  afterEach(() => {
    Error.prepareStackTrace = prepareStackTrace
  })

  it('names the bundle, and reads no map, where nothing is printed: of a call of gRPC that fails, or a stream that ends', () => {
    const bundle = '/without/a.map/bundle.cjs'
    const stackOf = (code: string): string => new Script(code, { filename: bundle }).runInThisContext().stack
    mapStackTraces(bundle)
    for (const code of [
      ...['new Error()', "new Error('14 UNAVAILABLE: No connection established')"],
      "Object.assign(new Error('lost'), { code: 'ECONNRESET' })",
    ])
      assert.match(stackOf(code), /bundle.cjs:1:/)
    assert.throws(() => stackOf("new Error('wrong')"), { code: 'ENOENT' })
  })
})
