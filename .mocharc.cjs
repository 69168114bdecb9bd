// What `npm test` runs: everything as it was compiled, several files at a time, the longest first.
const { availableParallelism } = require('node:os')

module.exports = {
  spec: [
    'dist/test/**/*.test.js',
    'dist/{cmd,openapi,cel,kcp,shard,remote,framework,virtual,authz,proxy,bench,examples}/**/*.test.js',
  ],
  ignore: ['dist/test/clients/**', 'dist/test/differential/peer.test.js'],
  'enable-source-maps': true,
  parallel: true,
  jobs: Math.min(Math.max(availableParallelism(), 2), 4),
  timeout: 240_000,
  exit: true,
  slow: 2000,
  reporter: 'scripts/reporter.cjs',
}
