import { readFileSync } from 'node:fs'

/** A process; the start time distinguishes it from later processes with the same number. */
export interface Owner {
  readonly pid: number
  /** Start time in clock ticks since boot; '' when the system does not report it. */
  readonly started: string
}

/** The fields of `/proc/<pid>/stat` after the command's name, which may contain any character. */
function procStat(pid: number): readonly string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')
  } catch {
    return undefined
  }
}

const startOf = (stat: readonly string[] | undefined): string => stat?.[19] ?? ''

function signals(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export const thisProcess = (): Owner => ({ pid: process.pid, started: startOf(procStat(process.pid)) })

/** Whether the same process still runs on this machine. */
export function isAlive({ pid, started }: Owner): boolean {
  if (!signals(pid)) return false
  const stat = procStat(pid)
  if (started === '' || stat === undefined) return true
  return stat[0] !== 'Z' && startOf(stat) === started
}
