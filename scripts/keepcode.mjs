// Runs the bundle with these arguments and writes V8's code for it when it ends: see cmd/process/program.ts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codePath, loadProgram } from '../dist/cmd/process/program.js'
import { bundleFolder } from './bundle.mjs'

const path = join(bundleFolder, 'main.cjs')
const program = loadProgram(path)
process.on('exit', () => writeFileSync(codePath(path), program.code()))
program.run()
