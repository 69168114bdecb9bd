#!/usr/bin/env node
import { join } from 'node:path'
import { isOutOfFiles, outOfFiles } from './files/openfiles.ts'
import { loadProgram, versionError } from './process/program.ts'
import { mapStackTraces } from './process/stacktraces.ts'

// libuv reads it when it starts its threads. Half of them look up host names, and a name server that does not answer holds one for seconds.
process.env.UV_THREADPOOL_SIZE ??= '64'

// The `bin` of package.json: a small bundle that runs the bundle of the program.
const bundle = join(import.meta.dirname, 'main.cjs')
const error = versionError(process.versions.node)
if (error === undefined) {
  mapStackTraces(bundle)
  try {
    loadProgram(bundle).run()
  } catch (error) {
    if (!isOutOfFiles(error)) throw error
    process.stderr.write(`oriel: ${outOfFiles}\n`)
    process.exitCode = 1
  }
} else {
  process.stderr.write(`${error}\n`)
  process.exitCode = 1
}
