import { withTimesOf } from '../../framework/apply/managed.ts'
import { type Awaitable, after, inTurns, nowOrInTurns, Pace } from '../../framework/async/awaitable.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { Change, WriteOptions } from '../../framework/contract/storage.ts'
import { Work } from '../../framework/json/json.ts'
import { sameJsonSteps } from '../../framework/json/same.ts'
import { type About, badRequest, conflict, invalid, modified } from '../../framework/meta/errors.ts'
import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { accountOf } from '../../framework/request/user.ts'
import type { CachedItem } from '../cache/item.ts'
import { StoreConflict } from '../store/store.ts'
import type { Revocable } from './conditions.ts'
import { changedMetadataErrors, dedupOwners, finalizerWarnings, metadataUpdateErrors } from './metadata.ts'
import { aboutOf, attributesOf, type Registry, seen, storedObject, writeWithin } from './registry.ts'
import { retried } from './retried.ts'
import { isHeld, prepareForUpdate, rulesOf, scopeOf, stepsOf } from './strategy.ts'

interface Update {
  readonly key: ObjectKey
  readonly change: Change
  readonly options: WriteOptions
}

/**
 * Replaces an object by what `change` makes of its newest state (`registry.Store.Update` of
 * `k8s.io/apiserver/pkg/registry/generic`).
 */
export function update(
  registry: Registry,
  ctx: RequestContext,
  { key, change, options }: Update,
): Promise<Item> {
  const pace = new Pace()
  const about = aboutOf(registry, key)
  return retried(registry.store, key, about, async current => {
    const next = await change(current)
    checkNumber(next)
    if (options.patch === undefined) checkUid(registry, next, current)
    await pace.due()
    const final = await finished(registry, ctx, { next, current, options })
    if (final === undefined) return current
    if (options.dryRun) return detached(registry, current, final)
    const writing = writeWithin(final, options, object => write(registry, { current, object, options }))
    return next.metadata.resourceVersion ? writing.catch(error => refuse(error, about)) : writing
  })
}

/** A write with a resourceVersion is not repeated: 409. */
function refuse(error: unknown, about: About): never {
  throw error instanceof StoreConflict ? modified(about) : error
}

function checkNumber({ metadata: { resourceVersion } }: KubeObject): void {
  if (resourceVersion && !/^\d+$/.test(resourceVersion))
    throw badRequest(
      `metadata.resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: must be a decimal number`,
    )
}

/** Throws 409 when the body has another uid (rules.md 2.15). Patches are checked by validation. */
function checkUid(registry: Registry, { metadata: { uid } }: KubeObject, current: CachedItem): void {
  if (!uid || uid === current.meta.uid) return
  throw conflict(
    aboutOf(registry, current.key),
    `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.meta.uid}`,
  )
}

/** Throws 409 when the body has another resourceVersion (rules.md 3.21). */
function checkVersion(
  registry: Registry,
  { metadata: { resourceVersion } }: KubeObject,
  current: CachedItem,
): void {
  if (resourceVersion && !registry.store.isCurrent(current, resourceVersion))
    throw modified(aboutOf(registry, current.key))
}

interface Step {
  readonly next: KubeObject
  readonly current: CachedItem
  readonly options: WriteOptions
}

/** The object to store; undefined when it does not differ from the stored one (rules.md 3.27). */
async function finished(
  registry: Registry,
  ctx: RequestContext,
  { next, current, options }: Step,
): Promise<KubeObject | undefined> {
  const { strategy, schema } = registry.rules
  const pace = new Pace()
  const old = storedObject(current)
  const phase = options.patch === undefined ? 'as sent' : 'after admission'
  const preparedFrom = (object: KubeObject): Promise<KubeObject> =>
    inTurns(prepareForUpdate(strategy, registry.part, object, old), pace)
  const collapsed = dedupOwners(await preparedFrom(next), phase)
  await pace.due()
  const request = { ...attributesOf(registry, 'UPDATE', current.key, options), old: seen(current) }
  const shown = seen(current, collapsed.object)
  const admitted = await registry.admission.mutate(ctx, { ...request, object: shown })
  await registry.admission.permit(ctx, { ...request, object: admitted })
  checkVersion(registry, next, current)
  const { object: prepared, warning }: ReturnType<typeof dedupOwners> =
    admitted === shown
      ? { object: collapsed.object }
      : dedupOwners(await preparedFrom(schema.decode(admitted).object), 'after admission')
  await pace.due()
  const object = registry.admission.complete({ ...request, object: prepared })
  await pace.due()
  await validate(registry, { object, old, account: accountOf(ctx.user, ctx.requestor) })
  await pace.due()
  await registry.admission.validate(ctx, { ...request, object: seen(current, object) })
  warn(ctx, [collapsed.warning, warning, ...finalizerWarnings(strategy, object, old)])
  await pace.due()
  const isSame = await inTurns(sameSteps(object, old), pace)
  return isSame && registry.store.isStored(current) ? undefined : object
}

function* sameSteps(object: KubeObject, old: KubeObject): Generator<void, boolean> {
  return yield* sameJsonSteps(yield* withTimesOf(object, old), old, new Work())
}

function warn(ctx: RequestContext, texts: readonly (string | undefined)[]): void {
  for (const text of texts) if (text !== undefined) ctx.record.warn(text)
}

interface Validated {
  readonly object: KubeObject
  readonly old: KubeObject
  readonly account: string
}

function validate(registry: Registry, update: Validated): Awaitable<void> {
  const { kind } = registry.rules.strategy
  return after(nowOrInTurns(errorsOf(registry, update), new Pace()), errors => {
    if (errors.length > 0) throw invalid(kind, registry.group, update.object.metadata.name ?? '', errors)
  })
}

function* errorsOf(
  { part, rules: { strategy, schema } }: Registry,
  { object, old, account }: Validated,
): ErrorSteps {
  return [
    ...changedMetadataErrors(strategy, object),
    ...metadataUpdateErrors(object, old),
    ...(yield* schema.validateSteps(object, old, { ...scopeOf(strategy, part), account })),
    ...(yield* stepsOf(rulesOf(strategy, part)?.validate?.(object, old))),
  ]
}

interface Write {
  readonly current: CachedItem
  readonly object: KubeObject
  readonly options: Revocable<WriteOptions>
}

/** Stores the object, or removes it when it is being deleted and the last finalizer is gone (rules.md 3.26). */
async function write(
  { store, rules: { strategy } }: Registry,
  { current, object, options }: Write,
): Promise<Item> {
  const { key, modified } = current
  const terminating = object.metadata.deletionTimestamp !== undefined
  if (!terminating || isHeld(strategy, object)) return store.write(key, object, modified, options)
  const removed = await store.write(key, undefined, modified, options)
  return store.detached(current.key, withVersion(object, removed.meta.resourceVersion))
}

const withVersion = (object: KubeObject, resourceVersion: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
})

/** The result of a dry run, at the old resourceVersion (rules.md 3.37). */
const detached = ({ store }: Registry, current: CachedItem, object: KubeObject): Promise<Item> =>
  store.detached(current.key, withVersion(object, current.meta.resourceVersion))
