import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../support/client.ts'
import type { pastKnown } from './known/known.ts'
import { type Outcome, player } from './play.ts'
import type { Step } from './step.ts'

/** A request to which two servers responded differently. */
export interface Difference {
  readonly step: Step
  readonly sent: unknown
  readonly ours: unknown
  readonly theirs: unknown
}

/** Sends the same requests to two servers in turn, and yields those with different responses. */
export async function* differences(
  sides: readonly [Client, Client],
  steps: readonly Step[],
  past: typeof pastKnown,
): AsyncGenerator<Difference> {
  const [ask, askOther] = [player(sides[0]), player(sides[1])]
  for (const step of steps) {
    const answers = await Promise.all([ask(step), askOther(step)])
    const [ours, theirs] = answers.map(answer => past(answer, step)) as [Outcome, Outcome]
    const isLeftAlike = answers[0]?.status === answers[1]?.status
    if (!isLeftAlike && step.object !== undefined) await forget(sides, step.object)
    if (isDeepStrictEqual(ours, theirs)) continue
    const sent = step.sent({ resourceVersion: '<version>', uid: '<uid>' }).body
    yield { step, sent, ...unequal(ours, theirs) }
    if (step.object !== undefined) await forget(sides, step.object)
  }
}

/** Deletes an object that differs after a request, because the next request would differ for that reason alone. */
async function forget(sides: readonly Client[], object: string): Promise<void> {
  const free = { method: 'PATCH', body: { metadata: { finalizers: null } } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  for (const client of sides) {
    await client(object, { ...free, headers })
    await client(object, { method: 'DELETE' })
  }
}

/** The differing parts of two values. */
function unequal(ours: unknown, theirs: unknown): { ours: unknown; theirs: unknown } {
  if (Array.isArray(ours) && Array.isArray(theirs)) return unequal({ ...ours }, { ...theirs })
  if (!isMembers(ours) || !isMembers(theirs)) return { ours, theirs }
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
  const differing = names.filter(name => !isDeepStrictEqual(ours[name], theirs[name]))
  const pairs = differing.map(name => [name, unequal(ours[name], theirs[name])] as const)
  return {
    ours: Object.fromEntries(pairs.map(([name, pair]) => [name, pair.ours])),
    theirs: Object.fromEntries(pairs.map(([name, pair]) => [name, pair.theirs])),
  }
}

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
