import { Pace } from '../../framework/async/awaitable.ts'
import type { Host, RequestContext, Selection } from '../../framework/index.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import { excluded } from './definitions.ts'
import type { QueryQuestion } from './question.ts'
import type { Unit } from './units.ts'

/**
 * Throws 400 for expressions that are wrong for all schemas of the resource. If they are right for some, the client is warned: another
 * user could serve a resource of the same name in a shared workspace.
 */
export async function checkExpressions(
  question: QueryQuestion,
  units: readonly Unit[],
  { record }: Pick<RequestContext, 'record'>,
): Promise<void> {
  const { first, problem, isRight } = await problemsOf(question, units)
  if (problem === '' || first === undefined) return
  const where = `${first.resource.names.plural} in the logical cluster ${first.cluster}`
  if (!isRight) throw badRequest(`${problem} (${where})`)
  record.warn(`objects of some logical clusters are not selected: ${problem} (${where})`)
}

/** The units that can have objects of the query. The client is warned of the others. */
export function selectable(
  units: readonly Unit[],
  query: Selection,
  { record }: Pick<RequestContext, 'record'>,
): readonly Unit[] {
  const left = units.find(({ resource }) => excluded(resource, query) !== undefined)
  if (left === undefined) return units
  record.warn(
    `objects of some logical clusters are not selected: ${excluded(left.resource, query)} (${left.cluster})`,
  )
  return units.filter(({ resource }) => excluded(resource, query) === undefined)
}

/** Warns that the logical clusters of other shards are not in the answer. */
export function warnOfShards(
  { otherShards }: Pick<Host, 'otherShards'>,
  { cluster, record }: Pick<RequestContext, 'cluster' | 'record'>,
  { isPart }: QueryQuestion,
): void {
  if (cluster === '*' && otherShards !== undefined && !isPart)
    record.warn(
      'the query is about the logical clusters of one shard: ask the front proxy about those of all shards',
    )
}

interface Problems {
  /** The first unit for whose schema an expression is wrong. */
  readonly first: Unit | undefined
  readonly problem: string
  /** The expressions are right for another schema. */
  readonly isRight: boolean
}

async function problemsOf(question: QueryQuestion, units: readonly Unit[]): Promise<Problems> {
  const pace = new Pace()
  let [first, problem, isRight]: [Unit | undefined, string, boolean] = [undefined, '', false]
  for (const unit of firstOfEachKind(units)) {
    const wait = pace.due()
    if (wait !== undefined) await wait
    await question.prepare(unit.resource, pace)
    const found = question.problemFor(unit.resource)
    if (found === undefined) isRight = true
    else if (first === undefined) [first, problem] = [unit, found]
  }
  return { first, problem, isRight }
}

/** One unit for each schema. */
function* firstOfEachKind(units: readonly Unit[]): Generator<Unit> {
  const known = new Set<unknown>()
  for (const unit of units) {
    if (!known.has(unit.resource.openapi)) yield unit
    known.add(unit.resource.openapi)
  }
}
