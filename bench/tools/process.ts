import { readFile } from 'node:fs/promises'

/** Resident memory of a process in MiB, and the part that is not mapped from files. Linux only. */
export async function residentMemory(pid: number): Promise<{ readonly all: number; readonly own: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
  return { all: mebibytes('VmRSS'), own: mebibytes('RssAnon') }
}

const ticksPerSecond = 100

/** Seconds of processor time that a process has used so far. Linux only. */
export async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
