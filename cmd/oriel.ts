#!/usr/bin/env node
import { join } from 'node:path'
import { loadProgram, versionError } from './process/program.ts'
import { mapStackTraces } from './process/stacktraces.ts'

// The `bin` of package.json: a small bundle that runs the bundle of the program.
const bundle = join(import.meta.dirname, 'main.cjs')
const error = versionError(process.versions.node)
if (error === undefined) {
  mapStackTraces(bundle)
  loadProgram(bundle).run()
} else {
  process.stderr.write(`${error}\n`)
  process.exitCode = 1
}
