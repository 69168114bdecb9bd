import { answerCases } from './answers.ts'
import { applyCases } from './apply.ts'
import { builtinCases } from './builtin.ts'
import { createCases } from './create.ts'
import { publishedCases } from './definitions.ts'
import type { Target } from './fixture.ts'
import { headerCases } from './headers.ts'
import { listCases } from './lists.ts'
import { metadataCases } from './metadata.ts'
import { pathCases } from './paths.ts'
import { readingCases } from './reading.ts'
import { statusCases } from './status.ts'
import { strictnessCases } from './strictness.ts'
import { updateCases } from './update.ts'
import { watchCases } from './watches.ts'
import { writeCases } from './writes.ts'

type Cases = (target: () => Target) => void
export type Areas = Readonly<Record<string, Cases>>

/** What holds wherever fixture F is served. */
export const areas: Areas = {
  'paths and negotiation': pathCases,
  'headers of answers': headerCases,
  metadata: metadataCases,
  'create and metadata': createCases,
  strictness: strictnessCases,
  'update, patch and delete': updateCases,
  'status of built-in kinds': statusCases,
  writes: writeCases,
  'server-side apply': applyCases,
  'answers and owners': answerCases,
  'built-in kinds': builtinCases,
  'list and watch': readingCases,
  lists: listCases,
  watches: watchCases,
  'discovery and OpenAPI': publishedCases,
}
