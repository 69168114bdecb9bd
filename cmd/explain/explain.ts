import {
  type Explanation,
  explainAnnotation,
  explanationAnnotation,
  viewAnnotation,
} from '../../authz/index.ts'
import { type JsonClient, type JsonResponse, jsonClient } from '../../framework/net/jsonclient.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { StartError } from '../files/starterror.ts'
import { connectionOf } from '../flags/connection.ts'
import { explainText, explainYaml } from './explaintext.ts'
import { mountIn } from './mountidentity.ts'
import type { Asked, Explained, ExplainOptions } from './resourcequestion.ts'
import { findResource, type ResourceQuestion } from './resourcequestion.ts'
import { behindView, isView } from './viewquestion.ts'

/**
 * Requests an explanation from the server and prints it. Returns the exit code: 1 when the action is denied, except for
 * YAML output, which is for pipes. Throws `StartError` on invalid arguments.
 */
export async function explain(asked: Asked, options: ExplainOptions): Promise<number> {
  const connection = await connectionOf(options)
  const typed = await findResource(jsonClient(connection), asked, options)
  const answered = isView(connection.server)
    ? await askAboutView(connection, typed, { ...options, verb: asked.verb })
    : { question: typed, explained: explainedBy(await review(jsonClient(connection), typed, options)) }
  const mount = await mountIn(jsonClient(connection), typed)
  process.stdout.write(
    printed({ ...answered.explained, ...(mount && { mount }) }, answered.question, options),
  )
  return answered.explained.allowed || options.output !== 'text' ? 0 : 1
}

/**
 * For a view, sends the review to the process of views instead of the logical cluster that authorizes. Servers that do not
 * explain views, such as kcp, get the first review that the view would send.
 */
async function askAboutView(
  connection: ServerAccess,
  typed: ResourceQuestion,
  { verb, ...options }: ExplainOptions & { readonly verb: string },
): Promise<{ readonly question: ResourceQuestion; readonly explained: Explained }> {
  const { server, explainer, view, question } = behindView(connection.server, typed, verb)
  const ask = (at: string, about: ResourceQuestion, more?: Annotations): Promise<JsonResponse> =>
    review(jsonClient({ ...connection, server: at }), about, options, more)
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
  (status !== 403 && status !== 404) || (body as Answered | undefined)?.details?.group === group

function printed(explained: Explained, question: ResourceQuestion, { as, output }: ExplainOptions): string {
  if (output === 'json') return `${JSON.stringify(explained, undefined, 2)}\n`
  return output === 'yaml' ? explainYaml(explained) : explainText(explained, question, as)
}

const group = 'authorization.k8s.io'

async function review(
  client: JsonClient,
  { attributes }: ResourceQuestion,
  { as, asGroup }: ExplainOptions,
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

interface Answered {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: { readonly allowed?: boolean; readonly reason?: string }
  readonly message?: string
  readonly details?: { readonly group?: string }
}

function explainedBy({ status: code, body }: JsonResponse): Explained {
  const answered = body as Answered | undefined
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
