#!/usr/bin/env node
import { join } from 'node:path'
import { loadProgram } from './program.ts'
import { mapStackTraces } from './stacktraces.ts'

// What `bin` names, bundled by itself: runs the bundle of everything else.
const bundle = join(import.meta.dirname, 'main.cjs')
mapStackTraces(bundle)
loadProgram(bundle).run()
