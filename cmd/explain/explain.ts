import {
  type Explanation,
  explainAnnotation,
  explanationAnnotation,
  viewAnnotation,
} from '../../authz/index.ts'
import type { Connection } from '../connection.ts'
import { connectionOf } from '../flags/connection.ts'
import { type JsonClient, jsonClient } from '../jsonclient.ts'
import { StartError } from '../starterror.ts'
import type { Asked, Explained, ExplainOptions } from './explained.ts'
import { explainText, explainYaml } from './explaintext.ts'
import { findResource, type ResourceQuestion } from './resourcequestion.ts'
import { behindView, isView } from './viewquestion.ts'

/**
 * Asks the server why somebody may or may not do something, and prints it. Returns the exit code: 1 when it is not
 * allowed, except for YAML, which is there to be piped. Throws `StartError` for what the user can change.
 */
export async function explain(asked: Asked, options: ExplainOptions): Promise<number> {
  const connection = await connectionOf(options)
  const typed = await findResource(jsonClient(connection), asked, options)
  const answered = isView(connection.server)
    ? await askAboutView(connection, typed, { ...options, verb: asked.verb })
    : { question: typed, explained: await review(jsonClient(connection), typed, options) }
  process.stdout.write(printed(answered.explained, answered.question, options))
  return answered.explained.allowed || options.output !== 'text' ? 0 : 1
}

/** Servers that do not explain views, such as kcp, are asked what the view would ask them first. */
async function askAboutView(
  connection: Connection,
  typed: ResourceQuestion,
  { verb, ...options }: ExplainOptions & { readonly verb: string },
): Promise<{ readonly question: ResourceQuestion; readonly explained: Explained }> {
  const { server, view, question } = behindView(connection.server, typed, verb)
  const client = jsonClient({ ...connection, server })
  const whole = await review(client, typed, options, { [viewAnnotation]: view })
  const explained = whole.explanation === undefined ? await review(client, question, options) : whole
  return { question, explained }
}

function printed(explained: Explained, question: ResourceQuestion, { as, output }: ExplainOptions): string {
  if (output === 'json') return `${JSON.stringify(explained, undefined, 2)}\n`
  return output === 'yaml' ? explainYaml(explained) : explainText(explained, question, as)
}

const group = 'authorization.k8s.io'

async function review(
  client: JsonClient,
  { attributes }: ResourceQuestion,
  { as, asGroup }: ExplainOptions,
  more: Readonly<Record<string, string>> = {},
): Promise<Explained> {
  const kind = as === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview'
  const subject = as === undefined ? {} : { user: as, groups: groupsOf(as, asGroup ?? []) }
  const metadata = { annotations: { [explainAnnotation]: 'true', ...more } }
  const body = { apiVersion: `${group}/v1`, kind, metadata, spec: { ...subject, ...attributes } }
  const answer = await client(`/apis/${group}/v1/${kind.toLowerCase()}s`, { body }).catch(error => {
    throw new StartError(`The server does not answer: ${(error as Error).message}.`)
  })
  return explainedBy(answer.status, answer.body as Answered | undefined)
}

/** Reviews take groups as they are given; who is anybody is in `system:authenticated`. */
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
}

function explainedBy(code: number, answered: Answered | undefined): Explained {
  if (code !== 201 || answered?.status?.allowed === undefined)
    throw new StartError(`The server refuses to review: ${answered?.message ?? `it answered ${code}`}.`)
  const { allowed, reason = '' } = answered.status
  const explanation = answered.metadata?.annotations?.[explanationAnnotation]
  return {
    allowed,
    reason,
    ...(explanation === undefined ? {} : { explanation: JSON.parse(explanation) as Explanation }),
  }
}
