import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

const packageAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) || dirname(folder) === folder
    ? folder
    : packageAbove(dirname(folder))

const root = packageAbove(import.meta.dirname)
const names = [
  'framework',
  'kcp',
  'cel',
  'openapi',
  'authz',
  'shard',
  'remote',
  'proxy',
  'virtual',
  'cmd',
  'bundle',
]
const folders = [root, join(root, 'dist')].flatMap(place => names.map(name => join(place, name) + sep))

/** Whether a file belongs to the server, as source, compiled or bundled, and not to a plugin. */
export const isOurs = (path: string): boolean => folders.some(folder => path.startsWith(folder))
