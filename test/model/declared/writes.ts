import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { Random } from '../random.ts'
import { type Spec, shownBy, type Tier, type Widget } from './specs.ts'
import { type DeclaredWorld, objectOf, readOf } from './world.ts'

const options = { dryRun: false, fieldManager: 'model' }

/** A write through a View, and the state before it. */
export interface WriteAttempt {
  readonly view: string
  readonly user: string
  readonly spec: Spec
  readonly tier: Tier
  /** undefined: there is none. */
  readonly old: Widget | undefined
  readonly next: Widget
}

/** The state after an allowed write; called before the write. */
type Stored = (widget: Widget | undefined) => void

/** Creates, changes or deletes through a View, and compares the outcome with the model. */
export async function writeThrough(
  world: DeclaredWorld,
  random: Random,
  attempt: WriteAttempt,
  stored: Stored,
): Promise<void> {
  if (attempt.old === undefined) await compareCreate(world, attempt, stored)
  else if (random.chance(0.2)) await compareDelete(world, attempt, stored)
  else await compareUpdate(world, attempt, stored)
}

const keyOf = ({ cluster, name }: Widget) => ({ cluster, namespace: '', name })
const shownTo = ({ spec, tier, user }: WriteAttempt, widget: Widget | undefined): string | undefined =>
  widget && shownBy(spec, widget, tier, user)

async function compareCreate(world: DeclaredWorld, attempt: WriteAttempt, stored: Stored): Promise<void> {
  const { view, user, spec } = attempt
  const next = spec.hides ? { ...attempt.next, team: '', token: '' } : attempt.next
  const shown = shownTo(attempt, next)
  if (shown !== undefined) stored(next)
  const ctx = world.contextOf(user, next.cluster, 'create')
  const create = () =>
    world.storageOf(view).create(ctx, keyOf(next), spec.hides ? withoutHidden(next) : objectOf(next), options)
  assert.deepEqual(await outcome(create), shown ?? 403, `create ${JSON.stringify(attempt)}`)
}

/** What a client of a View that hides fields can send. */
function withoutHidden(widget: Widget): KubeObject {
  const { metadata, ...object } = objectOf(widget)
  const { token: _, ...spec } = object.spec as Record<string, unknown>
  return { ...object, metadata: { name: metadata.name }, spec } as KubeObject
}

async function compareUpdate(world: DeclaredWorld, attempt: WriteAttempt, stored: Stored): Promise<void> {
  const { view, user, old } = attempt
  if (old === undefined) return
  const { color, size } = attempt.next
  const { color: _, ...rest } = old
  const next: Widget = { ...rest, size, ...(color !== undefined && { color }) }
  const expected = shownTo(attempt, old) === undefined ? 404 : (shownTo(attempt, next) ?? 403)
  if (typeof expected === 'string') stored(next)
  const ctx = world.contextOf(user, next.cluster, 'update')
  const update = () =>
    world.storageOf(view).update(
      ctx,
      keyOf(next),
      ({ object }) => {
        const { color: _color, ...spec } = object.spec as Record<string, unknown>
        return { ...object, spec: { ...spec, size, ...(color !== undefined && { color }) } }
      },
      options,
    )
  assert.deepEqual(await outcome(update), expected, `update ${JSON.stringify(attempt)}`)
}

async function compareDelete(world: DeclaredWorld, attempt: WriteAttempt, stored: Stored): Promise<void> {
  const { view, user, next } = attempt
  const expected = shownTo(attempt, attempt.old) ?? 404
  if (typeof expected === 'string') stored(undefined)
  const ctx = world.contextOf(user, next.cluster, 'delete')
  const remove = async () =>
    (await world.storageOf(view).delete(ctx, keyOf(next), () => undefined, { dryRun: false })).item
  assert.deepEqual(await outcome(remove), expected, `delete ${JSON.stringify(attempt)}`)
}

/** What the client reads of the result, or the code of the error. */
async function outcome(
  write: () => Promise<{ readonly object: Parameters<typeof readOf>[0] }>,
): Promise<string | number> {
  try {
    return readOf((await write()).object)
  } catch (error) {
    if (error instanceof StatusError) return error.code
    throw error
  }
}
