import { isDeepStrictEqual } from 'node:util'
import { applyConfiguration, type ManagedEndpoint } from '../apply/fieldmanager.ts'
import { inTurns, Pace } from '../async/awaitable.ts'
import { type Item, lengthOf } from '../contract/item.ts'
import { badRequest, type StatusError, unsupportedMediaType } from '../meta/errors.ts'
import { type KubeObject, type ObjectKey, timestamp } from '../meta/object.ts'
import { type ApplyRequest, applyOptions, readResourceVersion } from '../query/options.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import { checkMembers, mayHaveTooManyMembers } from '../wire/limits.ts'
import { DecodeError, jsonType } from '../wire/metadata.ts'
import { applyType, bodyLimit, type ParsedBody, parseBody } from '../wire/parsebody.ts'
import { decodeSteps, isCustom, report } from './body.ts'
import { answering, type Call, checkName, inNamespace, keyOf } from './call.ts'
import { checkUid, createdOr, unlocked, unversioned } from './createmissing.ts'
import { admitWrite, endpointOf } from './fieldtracking.ts'

type Config = Readonly<Record<string, unknown>>

/** The input of one apply, which is repeated after a conflict. */
interface Applying extends ApplyRequest {
  readonly endpoint: ManagedEndpoint
  readonly key: ObjectKey
  readonly config: Config
  readonly duplicates: readonly string[]
  /** Bytes of the body. */
  readonly length: number
}

/** Server-side apply (KEP 555): merges a configuration into the current object, or creates the object. */
export async function apply(call: Call, others: readonly string[]): Promise<Answer> {
  const { request } = call
  const key = keyOf(call)
  const answer = answering(call)
  const endpoint = endpointOf(call)
  if (endpoint === undefined) throw unsupportedMediaType(others)
  const body = await request.body(bodyLimit)
  const options = applyOptions(request.query)
  const { value, duplicates } = await parseConfig(request, body)
  const applying = { ...options, endpoint, key, config: readConfig(value), duplicates, length: body.length }
  const { item, status } = await applyOrCreate(call, applying)
  return answer(item, status)
}

/**
 * Reads JSON with the JSON parser, which is a hundred times as fast as the YAML parser; only the YAML parser gives the
 * lines of repeated keys.
 */
async function parseConfig(request: VerbRequest, body: Buffer): Promise<ParsedBody> {
  try {
    return (await parsedJson(request, body)) ?? (await parseBody(request, body, 'yaml'))
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
}

/** JSON without repeated keys; undefined for other texts. */
async function parsedJson(request: VerbRequest, body: Buffer): Promise<ParsedBody | undefined> {
  if (!body.toString('latin1', 0, 64).trimStart().startsWith('{')) return undefined
  try {
    const parsed = await parseBody(request, body, 'json')
    return parsed.duplicates.length === 0 ? parsed : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function readConfig(value: unknown): Config {
  if (value === null || jsonType(value) === 'object') return (value ?? {}) as Config
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`,
  )
}

function applyOrCreate(call: Call, applying: Applying): Promise<{ item: Item; status: number }> {
  const { ctx, served } = call
  const { key, config, force } = applying
  let sent: Config | undefined
  const write = { ...applying.write, patch: { type: applyType, force, body: () => sent } }
  const admitted = async (object: KubeObject, old?: KubeObject): Promise<KubeObject> => {
    const next = await admitWrite(call, { key, object, write, ...(old && { old }) })
    sent = configFor(config, object, next)
    // The applier also owns the labels that admission adds.
    return sent === undefined || sent === config ? next : merged({ ...applying, config: sent }, old)
  }
  const merged = async (what: Applying, old?: KubeObject): Promise<KubeObject> => {
    const object = await applied(call, what, old)
    return old === undefined ? unversioned(object) : unlocked(object, old)
  }
  const change = async (item: Item): Promise<KubeObject> => {
    const { object: old } = item
    const next = await merged(applying, old)
    if (mayHaveTooManyMembers(lengthOf(item) + applying.length))
      await inTurns(checkMembers(next, old), new Pace())
    return admitted(next, old)
  }
  const update = (): Promise<Item> => served.storage.update(ctx, key, change, write)
  if (served.subresource !== '') return update().then(item => ({ item, status: 200 }))
  return createdOr(update, async () => {
    const object = await merged(applying)
    checkUid(call.served, key, object, noObject)
    await call.scope.mayCreate()
    return served.storage.create(ctx, key, await admitted(object), write)
  })
}

const noObject = (uid: string): string =>
  `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`

/** The object as it would be stored: `live` is absent on create. */
async function applied(call: Call, applying: Applying, live?: KubeObject): Promise<KubeObject> {
  const { endpoint, key, config, duplicates, force, write, fieldValidation } = applying
  const writer = { manager: write.fieldManager, time: timestamp(), force }
  const pace = new Pace()
  const merged = await inTurns(applyConfiguration(endpoint, writer, config, live), pace)
  await pace.due()
  const { object } = await inTurns(decoded(call, merged), pace)
  await pace.due()
  report(call.ctx, fieldValidation, duplicates, strictProblem)
  const placed = inNamespace(object, call)
  checkName(placed, key)
  readResourceVersion(placed.metadata.resourceVersion)
  return placed
}

const strictProblem = (text: string): StatusError =>
  badRequest(`error strict decoding YAML: error converting YAML to JSON: ${text}`)

/** Decodes values that a schema does not distinguish, such as times. */
function* decoded(call: Call, object: KubeObject): ReturnType<typeof decodeSteps> {
  try {
    return yield* decodeSteps(object, call.served, { applied: isCustom(call.served) })
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message)
    throw error
  }
}

/**
 * The configuration whose apply gives the admitted object: the same one, or one with the labels that admission added.
 * undefined: admission changed something else.
 */
export function configFor(config: Config, applied: KubeObject, admitted: KubeObject): Config | undefined {
  if (admitted === applied) return config
  if (!isDeepStrictEqual(withoutLabels(admitted), withoutLabels(applied))) return undefined
  const before = applied.metadata.labels ?? {}
  const after = admitted.metadata.labels ?? {}
  if (Object.entries(before).some(([key, value]) => after[key] !== value)) return undefined
  const added = Object.entries(after).filter(([key]) => !Object.hasOwn(before, key))
  const metadata = (config.metadata ?? {}) as KubeObject['metadata']
  return {
    ...config,
    metadata: { ...metadata, labels: { ...metadata.labels, ...Object.fromEntries(added) } },
  }
}

function withoutLabels({ metadata, ...object }: KubeObject): object {
  const { labels: _, ...others } = metadata
  return { ...object, metadata: others }
}
