import { randomFrom } from '../model/random.ts'
import { anyRequest } from './requests.ts'
import type { Step } from './step.ts'
import { subjects } from './subjects.ts'

/** The requests of a seed: the same for every server, about each subject in turn. */
export function corpus(seed: number, length: number): readonly Step[] {
  const random = randomFrom(seed)
  const all = subjects(random)
  return Array.from({ length }, () => anyRequest(random.pick(all), random))
}
