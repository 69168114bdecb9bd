// Runs the files of the tests that failed once more, one after another. A test that passes then is flaky: a defect of
// the test or of Oriel, but no reason to refuse a commit that did not cause it. A test that fails twice has failed.
// `.ci/run` calls it and names them.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const most = 3

const [list] = process.argv.slice(2)
if (list === undefined) throw new Error('Usage: node scripts/again.mjs <list of failed tests>')
const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean)
const files = [...new Set(lines.map(line => line.split('\t', 1)[0]))]
if (files.length === 0 || files.includes('')) fail('The tests failed, but not in a file of tests.')
if (files.length > most) fail(`Tests of ${files.length} files failed; at most ${most} run again.`)

const { require, timeout } = createRequire(import.meta.url)('../.mocharc.cjs')
const options = ['--no-config', '--enable-source-maps', '--exit', '--reporter', 'spec']
const args = ['mocha', ...options, '--require', require, '--timeout', timeout, ...files].map(String)
process.exitCode = spawnSync('npx', args, { stdio: 'inherit' }).status ?? 1

function fail(why) {
  console.error(why)
  process.exit(1)
}
