import { Pace } from '../../framework/async/awaitable.ts'
import { contextWith } from '../../framework/contract/context.ts'
import {
  type Change,
  type Check,
  type DeleteOptions,
  type Deletion,
  type Item,
  type KubeObject,
  notFound,
  type ObjectKey,
  type RequestContext,
  StatusError,
  type WriteOptions,
} from '../../framework/index.ts'
import { alreadyExists, modified } from '../../framework/meta/errors.ts'
import { accepted } from './accept.ts'
import type { ResourcePlan } from './plan.ts'
import type { ViewSight } from './sight.ts'
import { asCreated, asUpdated, checkStaying, withName } from './staying.ts'

/** What the writes of one request have in common. */
export interface ViewWrites {
  readonly ctx: RequestContext
  readonly view: { readonly plan: ResourcePlan; readonly name: string }
  readonly sight: ViewSight
  /** The item as the View shows it; throws 404 for hidden items. */
  readonly visible: (item: Item) => Item
}

export async function createThrough(
  writes: ViewWrites,
  key: ObjectKey,
  object: KubeObject,
  { patch: _, ...options }: WriteOptions,
): Promise<Item> {
  const { view, sight } = writes
  const pace = new Pace()
  const next = withName(accepted({ ...view, sent: object }))
  const named = { ...key, name: next.metadata.name ?? '' }
  await pace.due()
  checkStaying(writes, named, asCreated(view.plan, next))
  const { storage } = view.plan.source
  return sight.written(await writeQuietly(writes, named, ctx => storage.create(ctx, named, next, options)))
}

export async function updateThrough(
  writes: ViewWrites,
  key: ObjectKey,
  change: Change,
  { patch: _, ...options }: WriteOptions,
): Promise<Item> {
  const { view, sight, visible } = writes
  const inner = async (stored: Item): Promise<KubeObject> => {
    const pace = new Pace()
    const shown = visible(stored)
    const sent = await change(shown)
    await pace.due()
    const next = accepted({ ...view, sent, shown, stored })
    await pace.due()
    checkStaying(writes, key, asUpdated(view.plan, next, stored.object))
    return next
  }
  const { storage } = view.plan.source
  return sight.written(
    await writeQuietly(writes, key, (ctx, known) => storage.update(ctx, key, known(inner), options)),
  )
}

export async function deleteThrough(
  writes: ViewWrites,
  key: ObjectKey,
  check: Check,
  options: DeleteOptions,
): Promise<Deletion> {
  const { view, sight, visible } = writes
  const inner = async (stored: Item): Promise<void> => check(visible(stored))
  const { storage } = view.plan.source
  const deletion = await writeQuietly(writes, key, (ctx, known) =>
    storage.delete(ctx, key, known(inner), options),
  )
  return { ...deletion, item: sight.written(deletion.item) }
}

/** Marks the errors of a function as errors about what the client sees. */
type Known = <A>(work: (stored: Item) => Promise<A>) => (stored: Item) => Promise<A>

/** The texts of the source itself. All others may be of rules, policies and webhooks, which see hidden fields and choose the code. */
function isOfSource({ plan }: ViewWrites['view'], { name }: ObjectKey, { message }: StatusError): boolean {
  const { group, names } = plan.source
  const about = { group, resource: names.plural, name }
  return [notFound, alreadyExists, modified].some(make => make(about).message === message)
}

/**
 * Writes to the source. With `hide`, its warnings and the texts of its refusals are not passed on: those of rules, policies
 * and webhooks may have values of hidden fields.
 */
async function writeQuietly<T>(
  { ctx, view }: ViewWrites,
  key: ObjectKey,
  write: (ctx: RequestContext, known: Known) => Promise<T>,
): Promise<T> {
  if (view.plan.hide.length === 0) return write(ctx, work => work)
  const own = new Set<unknown>()
  const known: Known = work => async stored => {
    try {
      return await work(stored)
    } catch (error) {
      own.add(error)
      throw error
    }
  }
  try {
    return await write(withoutWarnings(ctx), known)
  } catch (error) {
    if (!(error instanceof StatusError) || own.has(error) || isOfSource(view, key, error)) throw error
    throw refusal(view, key, error)
  }
}

function withoutWarnings(ctx: RequestContext): RequestContext {
  const { record } = ctx
  return contextWith(ctx, {
    record: {
      log: record.log,
      warn: () => undefined,
      annotate: (name, value) => record.annotate(name, value),
    },
  })
}

function refusal(
  { plan, name }: ViewWrites['view'],
  key: ObjectKey,
  { code, reason }: StatusError,
): StatusError {
  const { group, names } = plan.source
  const object = `${names.plural}${group === '' ? '' : `.${group}`} ${JSON.stringify(key.name)}`
  const why = `the reason is not shown, because the View ${JSON.stringify(name)} hides fields`
  return new StatusError(code, reason, `${object} was refused: ${why}`)
}
