import { createRequire } from 'node:module'
import { join } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { cacheHome, type PackedFiles, unpack } from './process/unpack.ts'

// The entry point of a single executable file: Node loads compiled modules and threads from files only.
const packed = JSON.parse(getAsset('files.json', 'utf8')) as PackedFiles
const read = (path: string): Uint8Array => new Uint8Array(getRawAsset(path) as ArrayBuffer)
try {
  const folder = unpack({ packed, read, cache: cacheHome() })
  createRequire(join(folder, 'package.json'))('./dist/bundle/oriel.cjs')
} catch (error) {
  process.stderr.write(
    `oriel: The program cannot be unpacked: ${error instanceof Error ? error.message : error}. Set XDG_CACHE_HOME to a directory that this user can write.\n`,
  )
  process.exitCode = 1
}
