// What `npm test` runs: everything as it was compiled, several files at a time.
const { availableParallelism } = require('node:os')
const { delimiter, join } = require('node:path')
const omitted = require('./scripts/omitted.cjs')

// What scripts/tools.mjs brings; the processes of the tests inherit it.
process.env.PATH += delimiter + join(__dirname, '.tools')

// scripts/reporter.cjs prints it.
process.env.SEED ??= String(Date.now() % 2 ** 31)

module.exports = {
  require: ['./scripts/seed.mjs'],
  spec: [
    'dist/test/**/*.test.js',
    'dist/{console,cmd,testing,openapi,cel,kcp,shard,remote,framework,virtual,authz,proxy,bench,examples}/**/*.test.js',
  ],
  ignore: omitted.flatMap(({ files }) => (files === undefined ? [] : [`dist/test/${files}`])),
  'enable-source-maps': true,
  parallel: true,
  jobs: Math.min(Math.max(availableParallelism(), 2), 4),
  timeout: 240_000,
  exit: true,
  slow: 2000,
  reporter: 'scripts/reporter.cjs',
}
