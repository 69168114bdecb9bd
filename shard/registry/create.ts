import { type Awaitable, after, nowOrInTurns, Pace } from '../../framework/async/awaitable.ts'
import type { WriteAttributes } from '../../framework/contract/admission.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ObjectSchema } from '../../framework/contract/schema.ts'
import type { WriteOptions } from '../../framework/contract/storage.ts'
import { merged } from '../../framework/json/json.ts'
import { alreadyExists, badRequest, forbidden, invalid, StatusError } from '../../framework/meta/errors.ts'
import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { accountOf } from '../../framework/request/user.ts'
import { StoreConflict } from '../store/store.ts'
import type { Revocable } from './conditions.ts'
import { dedupOwners, finalizerWarnings, newMetadataErrors } from './metadata.ts'
import {
  aboutOf,
  attributesOf,
  type Registry,
  type Rules,
  whileTerminating,
  writeWithin,
} from './registry.ts'
import { keepSystemFields, prepareForCreate, scopeOf, stepsOf, withSystemFields } from './strategy.ts'

/** Attempts with a generated name before the client gets 409 (rules.md 3.4). */
const attempts = 8

/**
 * Stores a new object: admission, defaults, validation, commit (`registry.Store.Create` of
 * `k8s.io/apiserver/pkg/registry/generic`).
 */
export async function create(
  registry: Registry,
  ctx: RequestContext,
  target: { readonly key: ObjectKey; readonly object: KubeObject },
  options: WriteOptions,
): Promise<Item> {
  const { key, object } = target
  const { rules } = registry
  checkCreatable(registry, target)
  const name = object.metadata.name ?? ''
  const request = attributesOf(registry, 'CREATE', { ...key, name }, options)
  const pace = new Pace()
  const owned = collapseOwners(ctx, withSystemFields(rules.strategy, key, object))
  const admitted = await mutated(registry, ctx, merged(request, { object: owned }))
  for (let attempt = 1; ; attempt++) {
    const prepared = withInitialStatus(rules, prepareForCreate(rules.strategy, admitted, ctx.actAs))
    await pace.due()
    const freshKey = { ...key, name: prepared.metadata.name ?? '' }
    const fresh = registry.admission.complete(merged(request, { key: freshKey, object: prepared }))
    await pace.due()
    await validate(registry, fresh, accountOf(ctx.user, ctx.requestor))
    await pace.due()
    if (attempt === 1)
      for (const warning of finalizerWarnings(rules.strategy, fresh)) ctx.record.warn(warning)
    await registry.admission.validate(ctx, merged(request, { key: freshKey, object: fresh }))
    const item = await put(registry, freshKey, fresh, options)
    if (item !== undefined) return item
    if (name === '' && attempt < attempts) continue
    throw await exists(registry, freshKey, Boolean(object.metadata.generateName))
  }
}

const initialStatuses = new WeakMap<ObjectSchema, unknown>()

/** The status that a schema's defaults give to an object without one. */
function initialStatusOf(schema: ObjectSchema, { apiVersion, kind }: KubeObject): unknown {
  if (!initialStatuses.has(schema))
    initialStatuses.set(schema, schema.decode({ apiVersion, kind, metadata: {} }).object.status)
  return initialStatuses.get(schema)
}

/** Sets the status that the schema defaults: the client's status has been dropped. */
function withInitialStatus({ strategy, schema }: Rules, object: KubeObject): KubeObject {
  if (!strategy.status || object.status !== undefined) return object
  const status = initialStatusOf(schema, object)
  return status === undefined ? object : { ...object, status }
}

function checkCreatable(
  registry: Registry,
  { object, key }: { readonly object: KubeObject; readonly key: ObjectKey },
): void {
  if (object.metadata.resourceVersion)
    throw badRequest('resourceVersion should not be set on objects to be created')
  if (!registry.rules.terminating) return
  const name = object.metadata.name || object.metadata.generateName || 'Unknown'
  throw forbidden(aboutOf(registry, { ...key, name }), whileTerminating)
}

function collapseOwners(ctx: RequestContext, ...of: Parameters<typeof dedupOwners>): KubeObject {
  const collapsed = dedupOwners(...of)
  if (collapsed.warning !== undefined) ctx.record.warn(collapsed.warning)
  return collapsed.object
}

/**
 * Runs mutating admission and checks that the user may grant the result, which is pruned and defaulted again (rules.md
 * 3.34).
 */
async function mutated(
  registry: Registry,
  ctx: RequestContext,
  request: WriteAttributes,
): Promise<KubeObject> {
  const changed = await registry.admission.mutate(ctx, request)
  const admitted = changed === request.object ? changed : keepSystemFields(changed, request.object)
  await registry.admission.permit(ctx, { ...request, object: admitted })
  if (admitted === request.object) return admitted
  return collapseOwners(ctx, registry.rules.schema.decode(admitted).object, 'after admission')
}

function validate({ group, rules }: Registry, object: KubeObject, account: string): Awaitable<void> {
  return after(nowOrInTurns(errorsOf(rules, object, account), new Pace()), errors => {
    if (errors.length > 0) throw invalid(rules.strategy.kind, group, object.metadata.name ?? '', errors)
  })
}

function* errorsOf({ strategy, schema }: Rules, object: KubeObject, account: string): ErrorSteps {
  return [
    ...newMetadataErrors(strategy, object),
    ...(yield* schema.validateSteps(object, undefined, { ...scopeOf(strategy, ''), account })),
    ...(yield* stepsOf(strategy.rest.validate?.(object))),
  ]
}

/** undefined: the name is taken, by an object that reads find, so that the client can change it. */
async function put(
  { store }: Registry,
  key: ObjectKey,
  object: KubeObject,
  options: Revocable<WriteOptions>,
): Promise<Item | undefined> {
  if (options.dryRun)
    return (await store.current(key)) === undefined ? store.detached(key, object) : undefined
  try {
    return await writeWithin(object, options, next => store.write(key, next, 0, options))
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error
    await store.settled(key, 0)
    return undefined
  }
}

/**
 * 409, with another text when the existing object is being deleted and when the name was generated (rules.md 2.7h,
 * 2.7i).
 */
async function exists(registry: Registry, key: ObjectKey, isGenerated: boolean): Promise<StatusError> {
  const current = await registry.store.current(key)
  const terminating = current?.object.metadata.deletionTimestamp !== undefined
  const error = alreadyExists(aboutOf(registry, key), terminating ? 'object is being deleted: ' : '')
  if (!isGenerated) return error
  const { message, details } = error.status
  const text = `${message}, the server was not able to generate a unique name for the object`
  return new StatusError(409, 'AlreadyExists', text, { ...details, retryAfterSeconds: 1 })
}
