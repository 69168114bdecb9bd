import { readdir, readFile } from 'node:fs/promises'
import { processorTime, residentMemory } from '../tools/process.ts'

/** A process and all processes that it has started, and those have started. Linux only. */
async function familyOf(pid: number): Promise<readonly number[]> {
  const parents = await parentsOfAll()
  const family = [pid]
  for (const member of family)
    for (const [child, parent] of parents) if (parent === member) family.push(child)
  return family
}

async function parentsOfAll(): Promise<ReadonlyMap<number, number>> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const known = await Promise.all(pids.map(async pid => [Number(pid), await parentOf(pid)] as const))
  return new Map(known)
}

/** 0 for a process that has ended meanwhile. */
async function parentOf(pid: string): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/** MiB of all processes of a server that are not mapped from files. */
export async function memoryOf(pid: number): Promise<number> {
  const sizes = (await familyOf(pid)).map(async each => (await residentMemory(each)).own)
  return sum(await Promise.all(sizes))
}

/** Seconds of processor time of all processes of a server. */
export async function processorOf(pid: number): Promise<number> {
  return sum(await Promise.all((await familyOf(pid)).map(processorTime)))
}
