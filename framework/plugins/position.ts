import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Culprit } from '../contract/viewfailure.ts'

/** The source of a plugin. */
export interface PluginOrigin {
  /** As the operator wrote it: `./team.ts`, or the name of a package. */
  readonly name: string
  /** The absolute path of its module. */
  readonly file: string
}

const frame = /(?:\(|\bat (?:async )?)((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^()\n]*?):(\d+):(\d+)\)?$/

interface Frame {
  readonly path: string
  /** `<path>:<line>:<column>` */
  readonly position: string
}

const pathOf = (url: string): string => {
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  return path.replace(/\?.*$/, '')
}

/** The frames of an error's stack that are in files, the innermost first. */
export function framesOf(error: unknown): readonly Frame[] {
  const { stack = '' } = error instanceof Error ? error : {}
  return stack.split('\n').flatMap(line => {
    const [, url, row, column] = frame.exec(line) ?? []
    if (url === undefined) return []
    const path = pathOf(url)
    return [{ path, position: `${path}:${row}:${column}` }]
  })
}

const isBeside = (path: string, { file }: PluginOrigin): boolean =>
  path.startsWith(dirname(file) + sep) &&
  !path.slice(dirname(file).length).includes(`${sep}node_modules${sep}`)

/**
 * The position of an error in the files of a plugin: the innermost frame in its module, else the innermost one in its folder
 * and those below. undefined if the plugin is not in the stack. `isOurs`: whether a path is a file of the server.
 */
export function positionOf(
  error: unknown,
  origin: PluginOrigin,
  isOurs: (path: string) => boolean,
): string | undefined {
  const frames = framesOf(error)
  const isOwn = ({ path }: Frame): boolean => path === origin.file
  const isNear = ({ path }: Frame): boolean => isBeside(path, origin) && !isOurs(path)
  return frames.find(each => isOwn(each) || isNear(each))?.position
}

/**
 * The position of a function's source, `<path>:<line>:<column>`, by V8's inspector; undefined for functions that are not from a
 * file. Takes about 20 milliseconds.
 */
export function definedAt(culprit: Culprit): string | undefined {
  const { Session } = process.getBuiltinModule('node:inspector')
  const session = new Session()
  session.connect()
  const key = Symbol.for('oriel/culprit')
  try {
    Object.assign(globalThis, { [key]: culprit })
    return locationIn(session, "globalThis[Symbol.for('oriel/culprit')]")
  } finally {
    Reflect.deleteProperty(globalThis, key)
    session.disconnect()
  }
}

type Inspector = InstanceType<ReturnType<typeof inspectorModule>['Session']>
const inspectorModule = () => process.getBuiltinModule('node:inspector')

/** The session answers synchronously, because it is connected to its own thread. */
function locationIn(session: Inspector, expression: string): string | undefined {
  const urls = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  let found: string | undefined
  session.post('Runtime.evaluate', { expression }, (_, { result }) => {
    session.post(
      'Runtime.getProperties',
      { objectId: result.objectId ?? '' },
      (_error, { internalProperties }) => {
        const place = internalProperties?.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value
        if (place === undefined) return
        session.post('Debugger.enable')
        const url = urls.get(place.scriptId) ?? ''
        if (/^(file:|\/|[A-Za-z]:)/.test(url))
          found = `${pathOf(url)}:${place.lineNumber + 1}:${place.columnNumber + 1}`
      },
    )
  })
  return found
}
