import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { skip } from '../../test/support/notrun.ts'
import { turnsDuring } from '../../test/support/time/during.ts'
import { mixedText } from '../testing/mixedtext.ts'
import { testInThread } from './patternthread.ts'

const hostile = 'a[ab]{100}[cd]'
const text = mixedText(40_000, 0)

describe('the thread for patterns', function () {
  this.timeout(20_000)
  before(function () {
    if (import.meta.filename.endsWith('.ts')) skip(this, 'threads of Node 20 have no loader of TypeScript')
  })

  it('finds whether a pattern matches, beside the event loop', async () => {
    const long = testInThread({ source: hostile, text }, 'alice')
    assert.ok((await turnsDuring(long)) > 1)
    assert.equal(await long, false)
    assert.equal(await testInThread({ source: hostile, text: `${text}a${'b'.repeat(100)}c` }, 'alice'), true)
    assert.equal(await testInThread({ source: '(', text: '(' }, 'alice'), false)
  })

  it('does not keep a process alive', async () => {
    const module = JSON.stringify(new URL('patternthread.js', import.meta.url).href)
    const code = `import(${module}).then(({ testInThread }) => testInThread({ source: 'a', text: 'a' }, '')).then(console.log)`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', code])
    assert.equal(stdout, 'true\n')
  })
})
