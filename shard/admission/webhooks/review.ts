import { randomUUID } from 'node:crypto'
import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import { mostMembers } from '../../../framework/json/exactjson.ts'
import { parseJsonSteps, type StepLimits } from '../../../framework/json/jsonsteps.ts'
import { isObject, listAt, memberOf, textAt, valueAt } from '../../../framework/json/values.ts'
import { badRequest, internalError, type StatusDetails, StatusError } from '../../../framework/meta/errors.ts'
import { printKind } from '../../../framework/meta/object.ts'
import type { AddressPolicy } from '../../../framework/net/addresspolicy.ts'
import { webhookUrl } from '../../../openapi/crd/conversion.ts'
import { brief, postJson } from '../../webhook/post.ts'
import type { Review } from '../../webhook/reviewbody.ts'
import { requestOf } from '../policies/evaluation.ts'
import type { Subject } from '../policies/matching.ts'
import type { Webhook } from './configuration.ts'
import { ObjectTexts } from './objecttexts.ts'

/** The JSON patch of a webhook that allowed the write; undefined when the call failed and failures are ignored. */
export interface WebhookResponse {
  readonly patch: unknown
}

/** Only the response of a mutating webhook may have a patch. */
type WebhookKind = 'mutating' | 'validating'

/** Calls a webhook. Throws its rejection, and failures unless the failure policy is `Ignore`. */
export type AskWebhook = (
  kind: WebhookKind,
  webhook: Webhook,
  subject: Subject,
) => Promise<WebhookResponse | undefined>

/** Calls webhooks at allowed addresses. */
export const webhookClient = (addresses: AddressPolicy): AskWebhook => {
  const texts = new ObjectTexts()
  return async (kind, webhook, subject) => {
    const { request } = subject
    if (request.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun')
      throw noDryRun(webhook.name)
    const uid = randomUUID()
    const response = await sent({ webhook, subject, addresses, uid, texts, kind })
      .then(text => answerIn(text, { uid, kind, version: versionOf(webhook) }))
      .catch((error: Error) => error)
    if (response instanceof Error) {
      if (webhook.failurePolicy === 'Ignore') return undefined
      throw failedCall(webhook.name, response.message)
    }
    const { response: said, patch } = response
    remember(webhook, subject, said)
    if (memberOf(said, 'allowed') !== true) throw denied(webhook.name, memberOf(said, 'status'))
    return { patch }
  }
}

function remember({ name }: Webhook, { ctx }: Subject, response: unknown): void {
  const warnings = memberOf(response, 'warnings')
  if (Array.isArray(warnings)) for (const text of warnings) ctx.record.warn(String(text))
  const annotations = Object.entries(memberOf(response, 'auditAnnotations') ?? {}).slice(0, most)
  for (const [key, value] of annotations) ctx.record.annotate(`${name}/${brief(key)}`, brief(String(value)))
}

interface Call {
  readonly webhook: Webhook
  readonly subject: Subject
  readonly addresses: AddressPolicy
  readonly uid: string
  readonly texts: ObjectTexts
  readonly kind: WebhookKind
}

/** Bytes of a response without a patch: many of them are received at a time. */
const mostWithoutPatch = 512 * 1024

/** The body of the response. */
async function sent({ webhook, subject, addresses, uid, texts, kind }: Call): Promise<string> {
  const { caBundle } = webhook.clientConfig
  const url = webhookUrl(webhook.clientConfig)
  const problem = addresses.problemOf(url)
  if (problem !== undefined) throw new Error(`failed to call webhook: its url is refused: ${problem}`)
  return postJson({
    url,
    body: await texts.review(reviewOf(uid, subject, versionOf(webhook)), subject.request),
    caBundle,
    seconds: Math.min(30, Math.max(1, webhook.timeoutSeconds ?? 10)),
    signal: subject.ctx.signal,
    ...(kind === 'validating' && { most: mostWithoutPatch }),
    lookup: addresses.lookup,
  }).catch((error: Error) => {
    throw new Error(`failed to call webhook: ${error.message}`)
  })
}

/** The `response` of an AdmissionReview, and its decoded JSON patch. */
interface Answer extends WebhookResponse {
  readonly response: object
}

/** Values of a response: its patch is one text. */
const mostInResponse = 10_000

/** Throws when the AdmissionReview is invalid. */
async function answerIn(text: string, expected: Expected): Promise<Answer> {
  const found = responseOrProblem(await parsed(text, { values: mostInResponse }), expected)
  if (typeof found === 'string') throw invalidResponse(found)
  const patch = textAt(found.response, 'patch')
  if (patch === '') return { ...found, patch: undefined }
  const decoded = await parsed(Buffer.from(patch, 'base64').toString(), { members: mostMembers })
  if (decoded === undefined) throw invalidResponse('response.patch is not JSON, or is too large')
  return { ...found, patch: decoded }
}

const invalidResponse = (why: string): Error => new Error(`received invalid webhook response: ${why}`)

/** The first version of reviews that the webhook and the server understand. */
const versionOf = ({ admissionReviewVersions = [] }: Webhook): 'v1' | 'v1beta1' =>
  admissionReviewVersions.find(version => version === 'v1' || version === 'v1beta1') ?? 'v1'

/** Without the objects. */
const reviewOf = (uid: string, subject: Subject, version: string): Review => ({
  kind: 'AdmissionReview',
  apiVersion: `admission.k8s.io/${version}`,
  request: { options: null, uid, ...requestOf(subject) },
})

/** The required members of a response. */
interface Expected {
  readonly uid: string
  readonly kind: WebhookKind
  readonly version: 'v1' | 'v1beta1'
}

/** The response, or the error with the message of Kubernetes. */
function responseOrProblem(
  review: unknown,
  { uid, kind: webhookKind, version: wanted }: Expected,
): string | { readonly response: object } {
  if (review === undefined) return 'the response is not JSON, or is too large'
  const kind = textAt(review, 'kind')
  const apiVersion = textAt(review, 'apiVersion')
  const isOld = wanted === 'v1beta1'
  if (!isOld && (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1'))
    return `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${printKind({ apiVersion, kind })}`
  const response = memberOf(review, 'response')
  if (!isObject(response)) return 'webhook response was absent'
  // v1beta1 requires neither uid nor patchType.
  if (isOld) return { response }
  if (response.uid !== uid)
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`
  return patchProblem(response, webhookKind) ?? { response }
}

function patchProblem(response: object, kind: WebhookKind): string | undefined {
  const [patch, type] = [textAt(response, 'patch'), valueAt(response, 'patchType')]
  if (kind === 'validating')
    return patch === '' ? undefined : 'validating webhook may not return response.patch'
  if (patch === '')
    return type === undefined ? undefined : 'webhook returned response.patchType but not response.patch'
  if (type === undefined) return 'webhook returned response.patch but not response.patchType'
  return type === 'JSONPatch'
    ? undefined
    : `webhook returned invalid response.patchType of ${JSON.stringify(type)}`
}

/** undefined for text that is no JSON, has too many levels or values, or an object of too many members. */
const parsed = (text: string, limits?: StepLimits): Promise<unknown> =>
  inTurns(parseJsonSteps(text, limits), new Pace()).catch(() => undefined)

/** 500: the call failed (rules.md 2.58). */
const failedCall = (name: string, why: string): StatusError =>
  internalError(`failed calling webhook ${JSON.stringify(name)}: ${brief(why)}`)

/** 400: the webhook has side effects, and the request is a dry run. */
const noDryRun = (name: string): StatusError =>
  badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)

/** 500 with any failure policy: a deletion has no object to patch. */
export const nothingToPatch = (name: string): StatusError =>
  internalError(
    `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
  )

/** 500 with any failure policy, as in Kubernetes: the patched object cannot be decoded. */
export const malformed = (name: string, why: string): StatusError =>
  internalError(
    `the object that admission webhook ${JSON.stringify(name)} has patched is invalid: ${brief(why)}`,
  )

/** The rejection of a webhook, with its code and reason if it has some. */
function denied(name: string, result: unknown): StatusError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`
  const [message, reason] = [briefAt(result, 'message'), briefAt(result, 'reason')]
  const why = message || reason
  const code = Number(memberOf(result, 'code') ?? 0)
  return new StatusError(
    Number.isInteger(code) && code >= 400 && code < 600 ? code : 400,
    reason,
    why === '' ? `${by} without explanation` : `${by}: ${why}`,
    detailsIn(memberOf(result, 'details')),
  )
}

/** Causes, and annotations for the audit log, that are passed on. */
const most = 100

const briefAt = (value: unknown, key: string): string => brief(textAt(value, key))

/** Members of other types are left out: they could not be encoded. */
function detailsIn(details: unknown): StatusDetails | undefined {
  if (!isObject(details)) return undefined
  const seconds = memberOf(details, 'retryAfterSeconds')
  const causes = listAt(details, 'causes').slice(0, most)
  return {
    ...textsIn(details, ['name', 'group', 'kind', 'uid']),
    ...(causes.length > 0 && {
      causes: causes.map(cause => ({
        message: briefAt(cause, 'message'),
        ...textsIn(cause, ['reason', 'field']),
      })),
    }),
    ...(Number.isSafeInteger(seconds) && { retryAfterSeconds: Number(seconds) }),
  }
}

const textsIn = <K extends string>(value: unknown, keys: readonly K[]): Partial<Record<K, string>> =>
  Object.fromEntries(
    keys.map(key => [key, briefAt(value, key)] as const).filter(([, text]) => text !== ''),
  ) as Partial<Record<K, string>>
