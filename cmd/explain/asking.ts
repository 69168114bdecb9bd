import type { Explanation } from '../../authz/index.ts'
import { explainAnnotation, explanationAnnotation, viewAnnotation } from '../../authz/reviews/annotations.ts'
import type { JsonClient, JsonResponse } from '../../framework/net/jsonclient.ts'
import { StartError } from '../files/starterror.ts'
import type { Asked, Explained, ExplainSubject, ResourceScope } from './resourcequestion.ts'
import { findResource, type ResourceQuestion, type TypedQuestion } from './resourcequestion.ts'
import { behindView, isView } from './viewquestion.ts'

/** A client of a logical cluster or a view by its URL. */
export type ClientAt = (server: string) => JsonClient

type Asking = ExplainSubject & ResourceScope

/** An explanation, and the review that it is about. */
interface Reviewed {
  readonly question: ResourceQuestion
  readonly explained: Explained
}

/** The same with the warnings about the question. */
export interface Answered extends Reviewed, Pick<TypedQuestion, 'warnings'> {}

/**
 * Asks why a user may or may not do something at the URL of a logical cluster or a view. Imports nothing of Node: the console
 * asks with it, too. Throws `StartError` when the question is invalid or the server refuses it.
 */
export async function askExplanation(
  clientAt: ClientAt,
  server: string,
  asked: Asked,
  asking: Asking,
): Promise<Answered> {
  const { warnings, ...typed } = await findResource(clientAt(server), asked, asking)
  const reviewed = isView(server)
    ? await askAboutView(clientAt, server, typed, { ...asking, verb: asked.verb })
    : { question: typed, explained: explainedBy(await review(clientAt(server), typed, asking)) }
  return { ...reviewed, warnings }
}

/**
 * For a view, sends the review to the process of views instead of the logical cluster that authorizes. Servers that do not
 * explain views, such as kcp, get the first review that the view would send.
 */
async function askAboutView(
  clientAt: ClientAt,
  url: string,
  typed: ResourceQuestion,
  { verb, ...asking }: Asking & { readonly verb: string },
): Promise<Reviewed> {
  const { server, explainer, view, question } = behindView(url, typed, verb)
  const ask = (at: string, about: ResourceQuestion, more?: Annotations): Promise<JsonResponse> =>
    review(clientAt(at), about, asking, more)
  const annotations = { [viewAnnotation]: view }
  const answer = await ask(explainer, typed, annotations)
  const explained = explainedBy(isServed(answer) ? answer : await ask(server, typed, annotations))
  if (explained.explanation !== undefined) return { question: question ?? typed, explained }
  if (question === undefined) throw new StartError('The server returns no explanation for this view.')
  return { question, explained: explainedBy(await ask(server, question)) }
}

type Annotations = Readonly<Record<string, string>>

/** A denied review is Forbidden for the resource; on servers without the resource, for the path. */
const isServed = ({ status, body }: JsonResponse): boolean =>
  (status !== 403 && status !== 404) || (body as ReviewBody | undefined)?.details?.group === group

const group = 'authorization.k8s.io'

async function review(
  client: JsonClient,
  { attributes }: ResourceQuestion,
  { as, asGroup }: ExplainSubject,
  more: Annotations = {},
): Promise<JsonResponse> {
  const kind = as === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview'
  const subject = as === undefined ? {} : { user: as, groups: groupsOf(as, asGroup ?? []) }
  const metadata = { annotations: { [explainAnnotation]: 'true', ...more } }
  const body = { apiVersion: `${group}/v1`, kind, metadata, spec: { ...subject, ...attributes } }
  return client(`/apis/${group}/v1/${kind.toLowerCase()}s`, { body }).catch(error => {
    throw new StartError(`The server does not respond: ${(error as Error).message}.`)
  })
}

/** Reviews do not add `system:authenticated`, of which every user except anonymous is a member. */
function groupsOf(user: string, given: readonly string[]): readonly string[] {
  if (user === 'system:anonymous') return [...given, 'system:unauthenticated']
  const [, kind, namespace] = user.split(':')
  const isAccount = user.startsWith('system:') && kind === 'serviceaccount' && namespace !== undefined
  const own = isAccount ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : []
  return [...new Set([...given, ...own, 'system:authenticated'])]
}

interface ReviewBody {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: { readonly allowed?: boolean; readonly reason?: string }
  readonly message?: string
  readonly details?: { readonly group?: string }
}

function explainedBy({ status: code, body }: JsonResponse): Explained {
  const answered = body as ReviewBody | undefined
  if (code !== 201 || answered?.status?.allowed === undefined)
    throw new StartError(
      `The server refuses the review: ${answered?.message ?? `it responded with ${code}`}.`,
    )
  const { allowed, reason = '' } = answered.status
  const explanation = answered.metadata?.annotations?.[explanationAnnotation]
  return {
    allowed,
    reason,
    ...(explanation === undefined ? {} : { explanation: JSON.parse(explanation) as Explanation }),
  }
}
