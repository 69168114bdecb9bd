// The progress of the tests at a terminal, dots elsewhere. A failure is named at once, with its reason. Both end with
// mocha's counts, what did not run and the seed.
const { appendFileSync } = require('node:fs')
const { reporters } = require('mocha')
const omitted = require('./omitted.cjs')
const { spin } = require('./spinner.cjs')

class Progress extends reporters.Base {
  constructor(runner, options) {
    super(runner, options)
    const { stats } = this
    const started = Date.now()
    let latest = 'starting'
    let failed = ''
    const text = () => {
      const seconds = Math.round((Date.now() - started) / 1000)
      return `${seconds} s, ${stats.passes} passing${failed}: ${latest}`
    }
    const spinner = spin(text)
    runner.on('suite', suite => {
      latest = suite.title || latest
    })
    runner.on('fail', () => {
      failed = `, ${stats.failures} failing`
    })
    runner.once('end', () => {
      spinner.stop()
      this.epilogue()
    })
  }
}

const marker = / ?\(not run: ((?:[^()]|\([^()]*\))+)\)/g

// Reasons, each with the titles of the tests that have it. A test is pending once, in whatever process it was.
function reasonsOf(titles) {
  const found = new Map()
  for (const title of titles.toSorted()) {
    const reason = [...title.matchAll(marker)].map(([, each]) => each).join('; ') || 'no reason is given'
    found.set(reason, [...(found.get(reason) ?? []), title.replaceAll(marker, '')])
  }
  return found
}

const shown = 3
function listOf(titles) {
  const lines = titles.slice(0, shown).map(title => `      ${title}`)
  return titles.length > shown ? [...lines, `      and ${titles.length - shown} more`] : lines
}

function linesOf(titles) {
  const pending = [...reasonsOf(titles)].flatMap(([reason, of]) => [
    `    ${of.length === 1 ? '1 test' : `${of.length} tests`}: ${reason}`,
    ...listOf(of),
  ])
  const left = omitted.flatMap(({ what, needs, command }) => [
    `    ${what}: needs ${needs}`,
    `      ${command}`,
  ])
  return ['  Not run:', ...pending, ...left]
}

const seedLine = process.env.SEED === undefined ? '' : `  Property tests had SEED=${process.env.SEED}.\n\n`

// For scripts/again.mjs. A test that runs mocha itself must not add to it.
const { FAILED_TESTS: failures } = process.env
delete process.env.FAILED_TESTS

// A failure outside of all tests has no file.
function noteFailed(test) {
  const file = test.file ?? test.parent?.file ?? ''
  appendFileSync(failures, `${file}\t${test.fullTitle()}\n`)
}

module.exports = class extends (process.stderr.isTTY ? Progress : reporters.Dot) {
  constructor(runner, options) {
    super(runner, options)
    const titles = []
    runner.on('pending', test => void titles.push(test.fullTitle()))
    // Also for runs that are ended before the epilogue.
    runner.on('fail', (test, error) => console.error(`\n  failed: ${test.fullTitle()}: ${error.message}`))
    if (failures !== undefined) runner.on('fail', noteFailed)
    runner.once('end', () => console.log(`${seedLine}${linesOf(titles).join('\n')}\n`))
  }
}
