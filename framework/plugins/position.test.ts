import assert from 'node:assert/strict'
import { definedAt, positionOf } from './position.ts'

const error = (...frames: readonly string[]): Error =>
  Object.assign(new Error('x'), { stack: ['Error: x', ...frames.map(each => `    at ${each}`)].join('\n') })
const origin = { name: './team.ts', file: '/plugins/team.ts' }
const isOurs = (path: string): boolean => path.startsWith('/plugins/framework/')

describe('the position of an error in a plugin', () => {
  it('is the innermost frame in its module, its folder or below', () => {
    for (const [at, ...frames] of [
      [
        '/plugins/team.ts:3:5',
        'JSON.parse (<anonymous>)',
        'present (/plugins/team.ts:3:5)',
        'a (/plugins/team.ts:9:1)',
      ],
      ['/plugins/team.ts:3:5', 'file:///plugins/team.ts?v=2:3:5'],
      ['/plugins/team.ts:3:5', 'async Object.get (file:///plugins/team.ts:3:5)'],
      ['/plugins/lib/names.js:1:2', 'of (/plugins/lib/names.js:1:2)', 'present (/plugins/team.ts:3:5)'],
      ['/plugins/team.ts:3:5', 'of (/plugins/node_modules/pg/index.js:1:2)', 'x (/plugins/team.ts:3:5)'],
      ['/plugins/team.ts:3:5', 'of (/plugins/framework/view.ts:1:2)', 'x (/plugins/team.ts:3:5)'],
    ] as const)
      assert.equal(positionOf(error(...frames), origin, isOurs), at)
  })

  it('is unknown if the plugin is not in the stack', () => {
    for (const thrown of [
      error('node:internal/fs/promises:639:25', 'of (/plugins/framework/view.ts:1:2)'),
      error('x (/elsewhere/team.ts:3:5)'),
      error(),
      'a text',
      undefined,
    ])
      assert.equal(positionOf(thrown, origin, isOurs), undefined)
  })
})

describe('the position of a function', () => {
  it('is where it is defined', () => {
    const [line] = /\d+(?=:\d+\)?$)/m.exec(String(new Error('here').stack?.split('\n')[1])) ?? []
    const culprit = async (): Promise<boolean> => true
    assert.match(definedAt(culprit) ?? '', /[\\/]position\.test\.[jt]s:\d+:\d+$/)
    assert.ok(Number(line) > 0)
  })

  it('is unknown for functions that are not from a file', () => {
    assert.equal(definedAt(Math.max), undefined)
    assert.equal(definedAt(new Function('return 1') as () => number), undefined)
  })
})
