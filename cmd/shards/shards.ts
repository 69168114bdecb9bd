import { createLogger } from '../../framework/contract/log.ts'
import { openDataDirectory } from '../files/directory.ts'
import { StartError } from '../files/starterror.ts'
import { withPort } from '../flags/serving.ts'
import type { StartFlags } from '../flags/start.ts'
import { withProgress } from '../process/progress.ts'
import { logStopped, stopSignal } from '../process/shutdown.ts'
import { bringUp, type ShardInstallation } from './bringup.ts'
import { prepareCredentials, proxyName } from './credentials.ts'
import { checkDirectory, checkFlags, shardNames } from './layout.ts'
import { type MemberEnd, MemberProcesses } from './memberprocesses.ts'

/**
 * `oriel start --shards`: shards of one workspace tree and a front proxy before them, each in a process, for development.
 * Serves until SIGINT or SIGTERM. Throws `StartError` on flags that do not go with it, and when a process ends.
 */
export async function startShards(given: StartFlags): Promise<void> {
  checkFlags(given)
  const directory = await openDataDirectory(given.dataDirectory)
  checkDirectory(directory.path, given.shards)
  const names = shardNames(given.shards)
  const flags = await withPort(given)
  const credentials = await prepareCredentials(flags, directory.path, [...names, proxyName])
  const members = new MemberProcesses()
  const stopping = new AbortController()
  const place = { given, flags, directory: directory.path, names }
  let end: MemberEnd | undefined
  try {
    end = await serve({ ...place, credentials, members, signal: stopping.signal })
  } finally {
    stopping.abort()
    await members.stop('SIGTERM')
    await directory.release()
  }
  if (end === undefined) logStopped(createLogger(given.logLevel))
  else report(end)
}

/** Resolves when the servers are to stop: with the process that ended, or with undefined at a signal. */
async function serve(installation: ShardInstallation): Promise<MemberEnd | undefined> {
  const stopped = stopSignal().then(() => undefined)
  const ending = Promise.race([stopped, installation.members.failed])
  const first = await withProgress('Starting', say => Promise.race([ending, bringUp(installation, say)]))
  if (typeof first !== 'string') return first
  process.stdout.write(first)
  return ending
}

/** A process that ended before it answered has written the reason. */
function report(end: MemberEnd): void {
  if (!end.wasReady && typeof end.reason === 'number') process.exitCode = end.reason || 1
  else
    throw new StartError(
      `The process of ${end.name} ended with ${end.reason}, and the others were stopped: start them again.`,
    )
}
