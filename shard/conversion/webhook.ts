import { randomUUID } from 'node:crypto'
import { atMost } from '../../framework/async/atmost.ts'
import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import { type Extent, exceedsSteps } from '../../framework/json/extent.ts'
import { parseJsonSteps } from '../../framework/json/jsonsteps.ts'
import { isObject, listAt, memberOf, textAt } from '../../framework/json/values.ts'
import { fieldErrorText, StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { AddressPolicy } from '../../framework/net/addresspolicy.ts'
import { JsonPieces } from '../../framework/wire/jsonpieces.ts'
import { bodyLimit } from '../../framework/wire/parsebody.ts'
import type { ConversionWebhook } from '../../openapi/definitions/definition.ts'
import { annotationErrors, labelErrors } from '../registry/metadata.ts'
import { brief, postJson, type WebhookCall } from '../webhook/post.ts'
import { reviewBody } from '../webhook/reviewbody.ts'

/**
 * Converts objects of other versions to `apiVersion`; same number, same order. The results exist while `use` works with them: few
 * conversions have theirs at a time.
 */
export type ConvertObjects = <T>(
  objects: readonly KubeObject[],
  apiVersion: string,
  use: (converted: readonly KubeObject[]) => Promise<T>,
) => Promise<T>

const group = 'apiextensions.k8s.io'
const supported = ['v1', 'v1beta1']

/**
 * Timeout of a conversion in seconds, however many reviews it has. Several readers share the result, so that no reader
 * cancels the call.
 */
const timeoutSeconds = 30

/** Conversions whose results exist at a time. A response of 8 MiB takes ten times as much memory when it is decoded. */
const mostUsed = 4

/** What the clients of all conversion webhooks share. */
export interface Conversions {
  readonly addresses: AddressPolicy
  readonly usedInTurn: <T>(work: () => Promise<T>) => Promise<T>
}

export const newConversions = (addresses: AddressPolicy): Conversions => ({
  addresses,
  usedInTurn: atMost(mostUsed),
})

/** Calls a conversion webhook. Rejects with 500 and the message of Kubernetes (rules.md 7.42). */
export const conversionWebhook =
  (webhook: ConversionWebhook, { addresses, usedInTurn }: Conversions): ConvertObjects =>
  async (objects, apiVersion, use) => {
    const about = `conversion for ${kindText(objects[0])}`
    const signal = AbortSignal.timeout(timeoutSeconds * 1000)
    const responses: Response[] = []
    for await (const part of parts(objects))
      responses.push(await ask({ webhook, addresses, part, apiVersion, signal }).catch(failing(about)))
    return usedInTurn(async () => {
      const converted: unknown[] = []
      for (const response of responses.splice(0)) {
        const answered = await convertedObjects(response).catch(failing(about))
        if (answered.length !== response.count)
          throw failed(`${about} returned ${answered.length} objects, expected ${response.count}`)
        for (const object of answered) converted.push(object)
      }
      return use(await checked(objects, converted, apiVersion, about))
    })
  }

const failing =
  (about: string) =>
  (error: Error): never => {
    throw failed(`${about} failed: conversion webhook for /, Kind= failed: ${error.message}`)
  }

/** The converted objects with what a conversion may not change. Throws 500 for the first invalid one. */
async function checked(
  objects: readonly KubeObject[],
  converted: readonly unknown[],
  apiVersion: string,
  about: string,
): Promise<readonly KubeObject[]> {
  const pace = new Pace()
  const results: KubeObject[] = []
  for (const [i, original] of objects.entries()) {
    const at = `at index ${i + 1}`
    const isLarge = await inTurns(exceedsSteps(converted[i], most), pace)
    const result = isLarge ? tooManyValues(at) : restored(original, converted[i], apiVersion, at)
    if (typeof result === 'string') throw failed(`${about} returned invalid ${result}`)
    results.push(result)
    await pace.due()
  }
  return results
}

/** Of a converted object. Its further steps, such as its encoding, are not divided. */
const most: Extent = { values: 100_000, characters: bodyLimit }

const tooManyValues = (at: string): string =>
  `converted object ${at}: it has more than ${most.values} values or ${most.characters} characters`

const failed = (message: string): StatusError => new StatusError(500, '', brief(message))

const kindText = (object: KubeObject | undefined): string => `${object?.apiVersion}, Kind=${object?.kind}`

/** Objects of one review. */
interface Part {
  /** A JSON array. */
  readonly objects: Buffer
  readonly count: number
}

/** Bytes of objects after which another review begins. Kubernetes sends all in one, whose answer may become too large. */
const mostOfPart = 1024 * 1024

async function* parts(objects: readonly KubeObject[]): AsyncGenerator<Part, void> {
  const pace = new Pace()
  let [pieces, count] = [new JsonPieces(), 0]
  for (const [i, object] of objects.entries()) {
    pieces.add(count++ === 0 ? '[' : ',')
    await inTurns(pieces.value(object), pace)
    await pace.due()
    if (pieces.length < mostOfPart && i < objects.length - 1) continue
    pieces.add(']')
    yield { objects: pieces.bytes(), count }
    ;[pieces, count] = [new JsonPieces(), 0]
  }
}

interface Call {
  readonly webhook: ConversionWebhook
  readonly addresses: AddressPolicy
  readonly part: Part
  readonly apiVersion: string
  /** Aborts when the time of the whole conversion has passed. */
  readonly signal: AbortSignal
}

/** A response that is not decoded. */
interface Response {
  readonly text: string
  /** Of the review. */
  readonly uid: string
  readonly version: string
  /** The number of objects in the review. */
  readonly count: number
}

/** Kubernetes sends objects one by one, as items of a list without a kind. */
async function ask({ webhook, addresses, part, apiVersion, signal }: Call): Promise<Response> {
  const version = webhook.reviewVersions.find(each => supported.includes(each))
  if (version === undefined) throw new Error('no supported conversion review versions')
  const uid = randomUUID()
  const review = {
    kind: 'ConversionReview',
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion: apiVersion },
  }
  const body = reviewBody(review, { objects: part.objects })
  const text = await posted(webhook, addresses, { body, signal })
  return { text, uid, version, count: part.count }
}

async function posted(
  { url, caBundle }: ConversionWebhook,
  addresses: AddressPolicy,
  { body, signal }: Pick<WebhookCall, 'body' | 'signal'>,
): Promise<string> {
  const problem = addresses.problemOf(url)
  if (problem !== undefined) throw new Error(`its url is refused: ${problem}`)
  return postJson({
    url,
    body,
    caBundle,
    seconds: timeoutSeconds,
    signal,
    lookup: addresses.lookup,
  })
}

const parsed = (text: string): Promise<unknown> =>
  inTurns(parseJsonSteps(text), new Pace()).catch(() => {
    throw new Error(
      'the response is not JSON, is nested too deeply, has more than 300,000 values, or a text or an object that is too large',
    )
  })

/** The converted objects of the response. Throws for an invalid one. Responses of v1beta1 have no uid. */
async function convertedObjects({ text, uid, version }: Response): Promise<readonly unknown[]> {
  const review = await parsed(text)
  const [apiVersion, kind] = [textAt(review, 'apiVersion'), textAt(review, 'kind')]
  if (version === 'v1' && (kind !== 'ConversionReview' || apiVersion !== `${group}/v1`))
    throw new Error(
      `expected webhook response of ${group}/v1, Kind=ConversionReview, got ${apiVersion}, Kind=${kind}`,
    )
  const response = memberOf(review, 'response')
  if (!isObject(response)) throw new Error('no response provided')
  const answered = textAt(response, 'uid')
  if (version === 'v1' && answered !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`)
  const result = memberOf(response, 'result')
  const status = textAt(result, 'status')
  if (status !== 'Success')
    throw new Error(textAt(result, 'message') || `response.result.status was '${status}', not 'Success'`)
  return listAt(response, 'convertedObjects')
}

const kindOf = (value: unknown): string => (value === null ? '<nil>' : typeof value)

/** A group version as Go prints it. */
const versionText = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * The converted object with the original metadata except labels and annotations, which are all that a conversion
 * may change; otherwise the error. `at`: the position of the object.
 */
function restored(
  original: KubeObject,
  converted: unknown,
  apiVersion: string,
  at: string,
): KubeObject | string {
  const wrong = (why: string): string => `converted object ${at}: ${why}`
  if (!isObject(converted)) return wrong(`it is not an object but ${kindOf(converted)}`)
  if (converted.apiVersion !== apiVersion)
    return wrong(
      `invalid groupVersion (expected ${apiVersion}, received ${versionText(converted.apiVersion)})`,
    )
  if (converted.kind !== original.kind)
    return wrong(`invalid kind (expected ${original.kind}, received ${versionText(converted.kind)})`)
  const { metadata = {} } = converted
  if (!isObject(metadata)) return wrong('invalid metadata')
  const moved = (['name', 'namespace', 'uid'] as const).find(
    field => (original.metadata[field] ?? '') !== (metadata[field] ?? ''),
  )
  if (moved !== undefined)
    return wrong(
      `must have the same ${moved === 'uid' ? 'UID' : moved}: ${original.metadata[moved] ?? ''} != ${metadata[moved] ?? ''}`,
    )
  const problem = textsProblem(metadata)
  if (problem !== undefined) return `metadata in object ${at}: ${problem}`
  const { labels: _l, annotations: _a, ...kept } = original.metadata
  const { labels, annotations } = metadata as KubeObject['metadata']
  const changed = { ...(labels && { labels }), ...(annotations && { annotations }) }
  return { ...converted, metadata: { ...kept, ...changed } } as KubeObject
}

/** Labels or annotations of a converted object. They are checked in one step. */
const mostTexts = 10_000

function textsProblem(metadata: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of ['labels', 'annotations'] as const) {
    const texts = metadata[field] ?? {}
    if (!isObject(texts)) return `invalid metadata.${field} of type ${kindOf(texts)} in converted object`
    const entries = Object.entries(texts)
    if (entries.length > mostTexts) return `metadata.${field}: Too many: must have at most ${mostTexts} items`
    const [key, value] = entries.find(([, text]) => typeof text !== 'string') ?? []
    if (key !== undefined)
      return `metadata.${field}[${key}] must be a string, but is ${kindOf(value)} in converted object`
    const errors = (field === 'labels' ? labelErrors : annotationErrors)(texts as Record<string, string>)
    if (errors.length > 0) return errors.map(fieldErrorText).join(', ')
  }
  return undefined
}
