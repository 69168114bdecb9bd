import { type Awaitable, after, inTurns, nowOrInTurns, Pace } from '../async/awaitable.ts'
import type { ApiResource, Served } from '../contract/apis.ts'
import { type Item, lengthOf } from '../contract/item.ts'
import { goText } from '../json/gotext.ts'
import { formatJson, type Steps, Work } from '../json/json.ts'
import { invalid, type StatusError, unsupportedMediaType } from '../meta/errors.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import { wholeSchema } from '../meta/objectmeta.ts'
import { applyJsonPatchSteps, readJsonPatch } from '../patch/jsonpatch.ts'
import { withListStrategies } from '../patch/liststrategies.ts'
import { applyMergePatchSteps, readMergePatch } from '../patch/mergepatch.ts'
import { applyStrategicMergePatchSteps, readStrategicMergePatch } from '../patch/strategicmerge.ts'
import { readResourceVersion, type WriteRequest, writeOptions } from '../query/options.ts'
import type { Answer } from '../request/response.ts'
import { checkMembers, mayHaveTooManyMembers } from '../wire/limits.ts'
import { DecodeError, MissingKindError } from '../wire/metadata.ts'
import { applyType, bodyLimit, bodyType, isTooDeep, type ParsedBody } from '../wire/parsebody.ts'
import { apply } from './apply.ts'
import { checkPatchedType, decodeSteps, missingKind, parseOrRefuse, report, unknownField } from './body.ts'
import { answering, type Call, checkName, inNamespace, keyOf } from './call.ts'
import { unlocked, withRequiredVersion } from './createmissing.ts'
import { admitWrite, tracked } from './fieldtracking.ts'

const strategicMergeType = 'application/strategic-merge-patch+json'

/** A patch that has been read and can be applied to any state of the object. */
interface Patch {
  readonly body: unknown
  readonly apply: (document: KubeObject) => Awaitable<unknown>
  /** What `fieldValidation=Strict` refuses in the patch itself. */
  readonly problems: readonly string[]
  /** The value in the error when the result is refused; absent: the result. */
  readonly shown?: () => string
}

/** PATCH: applied to the current object, and again after each conflict. */
export async function patch(call: Call): Promise<Answer> {
  if (bodyType(call.request) === applyType) return apply(call, typesFor(call.served))
  const { ctx, served, request } = call
  const key = keyOf(call)
  const answer = answering(call)
  const read = readerOf(call)
  const options = writeOptions('PatchOptions', request)
  const body = await request.body(bodyLimit)
  const { fieldManager } = options.write
  let parsed: Patch | undefined
  let sent: unknown
  const change = async (item: Item): Promise<KubeObject> => {
    const { object: old } = item
    const pace = new Pace()
    // Read after the object, because 404 comes first.
    parsed ??= await read(body)
    await pace.due()
    const result = await parsed.apply(old)
    await pace.due()
    if (mayHaveTooManyMembers(lengthOf(item) + body.length)) await inTurns(checkMembers(result, old), pace)
    const steps = patched(call, result, { key, patch: parsed, ...options })
    const next = unlocked(await inTurns(steps, pace), old)
    await pace.due()
    const admitted = await admitWrite(call, { key, object: next, old, write: options.write })
    sent = admitted === next ? parsed.body : undefined
    return tracked(call, fieldManager, admitted, old)
  }
  const write = { ...options.write, patch: { type: bodyType(request), body: () => sent } }
  return answer(await served.storage.update(ctx, key, change, write))
}

/** Readers by media type; other types are 415 with this list (rules.md 5.1, 5.1a). */
const readers: ReadonlyMap<string, PatchReader> = new Map([
  ['application/json-patch+json', { kind: 'JSON Patch', read: jsonPatch }],
  ['application/merge-patch+json', { kind: 'JSON Merge Patch', read: mergePatch }],
  [strategicMergeType, { kind: 'Strategic Merge Patch', read: strategicMergePatch }],
])

interface PatchReader {
  /** In error messages. */
  readonly kind: string
  read(body: ParsedBody, served: Served): Patch
}

const typesFor = ({ resource }: Served): readonly string[] =>
  [...readers.keys()].filter(
    type => type !== strategicMergeType || !resource.custom || resource.strategicMergePatch,
  )

function readerOf({ request, served }: Call): (body: Buffer) => Promise<Patch> {
  const type = bodyType(request)
  const types = typesFor(served)
  const reader = types.includes(type) ? readers.get(type) : undefined
  if (reader === undefined) throw unsupportedMediaType([...types, applyType])
  return async body => reader.read(await parseOrRefuse(request, body, reader.kind), served)
}

function jsonPatch({ value, duplicates }: ParsedBody): Patch {
  const operations = readJsonPatch(value)
  const repeated = duplicates.map(problem => `json patch ${problem}`)
  return {
    body: value,
    apply: document => inTurns(applyJsonPatchSteps(document, operations), new Pace()),
    problems: [...repeated, ...operations.problems],
  }
}

function mergePatch({ value, duplicates }: ParsedBody): Patch {
  const members = readMergePatch(value)
  return {
    body: value,
    apply: document => nowOrInTurns(applyMergePatchSteps(document, members, new Work()), new Pace()),
    problems: duplicates,
  }
}

function strategicMergePatch({ value, duplicates }: ParsedBody, { kind, resource }: Served): Patch {
  const changes = readStrategicMergePatch(value)
  // The schema is that of the resource: objects of subresources of another kind are not merged by key.
  const schema = kind === resource.names.kind ? mergeSchemaOf(resource) : {}
  return {
    body: value,
    apply: document => {
      const steps = applyStrategicMergePatchSteps(document, changes, schema, new Work())
      return after(nowOrInTurns(steps, new Pace()), changed => withTypeOf(document, changed))
    },
    problems: duplicates,
    shown: () => goText(changes),
  }
}

const mergeSchemaOf = ({ openapi, custom }: ApiResource): MergeSchema =>
  custom ? withListStrategies(wholeSchema(openapi)) : wholeSchema(openapi)

/** A strategic merge patch does not change apiVersion and kind. */
const withTypeOf = ({ apiVersion, kind }: KubeObject, changed: object): unknown => ({
  ...changed,
  apiVersion,
  kind,
})

interface Patching extends WriteRequest {
  readonly key: ObjectKey
  readonly patch: Patch
}

function* patched(call: Call, result: unknown, { key, patch, fieldValidation }: Patching): Steps<KubeObject> {
  const refuse = (detail: string): StatusError => invalidResult(patch.shown?.() ?? formatJson(result), detail)
  const { object, unknown } = yield* decodeResult(call, { key, result, refuse })
  report(call.ctx, fieldValidation, [...patch.problems, ...unknown.map(unknownField)], text =>
    refuse(`strict decoding error: ${text}`),
  )
  const placed = inNamespace(object, call)
  checkName(placed, key)
  readResourceVersion(placed.metadata.resourceVersion)
  return withRequiredVersion(call, placed)
}

interface Patched {
  readonly key: ObjectKey
  readonly result: unknown
  readonly refuse: (detail: string) => StatusError
}

function* decodeResult(call: Call, { key, result, refuse }: Patched): ReturnType<typeof decodeSteps> {
  if (isTooDeep(result)) throw invalidResult('{}', 'exceeded max depth')
  yield
  try {
    checkPatchedType(call, result, key)
    return yield* decodeSteps(result, call.served)
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message)
    if (error instanceof MissingKindError) throw refuse(missingKind(formatJson(result)))
    throw error
  }
}

/** 422 for the result of a valid patch (rules.md 2.49, 5.9). */
const invalidResult = (value: string, detail: string): StatusError =>
  invalid('', '', '', [{ type: 'FieldValueInvalid', field: 'patch', value, detail }])
