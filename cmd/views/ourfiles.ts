import { join, sep } from 'node:path'
import { packageAbove } from '../files/build.ts'

/** The folders of the program. */
export const programFolders = [
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
  'console',
  'testing',
] as const

const root = packageAbove(import.meta.dirname) ?? import.meta.dirname
const prefixes = [root, join(root, 'dist')].flatMap(place =>
  [...programFolders, 'bundle'].map(name => join(place, name) + sep),
)

/** Whether a file belongs to the server, as source, compiled or bundled, and not to a plugin. */
export const isOurs = (path: string): boolean => prefixes.some(prefix => path.startsWith(prefix))
