import { type PluginOrigin, positionOf } from '../../framework/plugins/position.ts'
import { isOurs } from './ourfiles.ts'

const origins = new Map<string, PluginOrigin>()

/**
 * Says which plugin has ended the process by `process.exit()`, and where. The code of the process is 1 then instead of 0, so that what
 * supervises the process starts it again.
 */
export function reportExits(origin: PluginOrigin): void {
  if (origins.size === 0) process.on('exit', reportExit)
  origins.set(origin.file, origin)
}

/** Node calls this in `process.exit()`, so that the stack has its caller. */
function reportExit(code: number): void {
  const here = new Error('exit')
  for (const origin of origins.values()) {
    const at = positionOf(here, origin, isOurs)
    if (at === undefined) continue
    process.stderr.write(
      `oriel: The view ${origin.name} ended the process with code ${code}: remove process.exit() at ${at}.\n`,
    )
    process.exitCode = code || 1
    return
  }
}
