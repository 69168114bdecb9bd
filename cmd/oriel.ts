#!/usr/bin/env node
import { join } from 'node:path'
import { loadProgram, refusalOf } from './process/program.ts'
import { mapStackTraces } from './process/stacktraces.ts'

// What `bin` names, bundled by itself: runs the bundle of everything else.
const bundle = join(import.meta.dirname, 'main.cjs')
const refusal = refusalOf(process.versions.node)
if (refusal === undefined) {
  mapStackTraces(bundle)
  loadProgram(bundle).run()
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 1
}
