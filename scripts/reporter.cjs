// How far the tests are, for a person at a terminal; dots for everybody else. Both end with mocha's counts.
const { reporters } = require('mocha')
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

module.exports = process.stderr.isTTY ? Progress : reporters.Dot
