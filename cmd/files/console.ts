import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { StaticFiles } from '../../framework/server/staticfiles.ts'
import { packageAbove } from './build.ts'

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The files of the console, which the build writes beside the program; none in a checkout that is not built. */
export function consoleFiles(): StaticFiles {
  const folder = folderOf(import.meta.dirname)
  if (!existsSync(folder)) return new Map()
  return new Map(
    readdirSync(folder).flatMap(name => {
      const contentType = contentTypes[extname(name)]
      if (contentType === undefined) return []
      const path = name === 'index.html' ? '/console' : `/console/${name}`
      return [[path, { contentType, body: readFileSync(join(folder, name)) }]]
    }),
  )
}

/** In the bundle `console/` is beside the program; sources and compiled files use that of the last build. */
function folderOf(directory: string): string {
  const own = join(directory, 'console')
  if (existsSync(join(own, 'index.html')) && existsSync(join(own, 'main.js'))) return own
  return join(packageAbove(directory) ?? directory, 'dist/bundle/console')
}
