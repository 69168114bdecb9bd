import { answerCases } from './cases/answers.suite.ts'
import { applyCases } from './cases/apply.suite.ts'
import { builtinCases } from './cases/builtin.suite.ts'
import { createCases } from './cases/create.suite.ts'
import { publishedCases } from './cases/definitions.suite.ts'
import { headerCases } from './cases/headers.suite.ts'
import { listCases } from './cases/lists.suite.ts'
import { metadataCases } from './cases/metadata.suite.ts'
import { pathCases } from './cases/paths.suite.ts'
import { readingCases } from './cases/reading.suite.ts'
import { statusCases } from './cases/status.suite.ts'
import { strictnessCases } from './cases/strictness.suite.ts'
import { updateCases } from './cases/update.suite.ts'
import { watchCases } from './cases/watches.suite.ts'
import { writeCases } from './cases/writes.suite.ts'
import type { Target } from './fixture.ts'

type Cases = (target: () => Target) => void
export type Areas = Readonly<Record<string, Cases>>

/** The areas that apply wherever fixture F is served. */
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
