import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** Where a long run of a model continues: the next seed, and the counts of all worlds before. */
export interface Progress {
  readonly seed: number
  readonly counts: Record<string, number>
}

const file = process.env.MODEL_PROGRESS

/** The progress in the file that `MODEL_PROGRESS` names; undefined without it: each run is complete. */
export function savedProgress(firstSeed: number): Progress | undefined {
  if (file === undefined) return undefined
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Progress)
    : { seed: firstSeed, counts: {} }
}

export function saveProgress(progress: Progress): void {
  if (file !== undefined) writeFileSync(file, JSON.stringify(progress))
}
