import { jsonClient } from '../../framework/net/jsonclient.ts'
import { connectionOf } from '../flags/connection.ts'
import { askExplanation } from './asking.ts'
import { explainText, explainYaml } from './explaintext.ts'
import { mountIn } from './mountidentity.ts'
import type { Asked, Explained, ExplainOptions, ResourceQuestion } from './resourcequestion.ts'

/**
 * Requests an explanation from the server and prints it. Returns the exit code: 1 when the action is denied, except for
 * YAML output, which is for pipes. Throws `StartError` on invalid arguments.
 */
export async function explain(asked: Asked, options: ExplainOptions): Promise<number> {
  const connection = await connectionOf(options)
  const clientAt = (server: string) => jsonClient({ ...connection, server })
  const { question, explained } = await askExplanation(clientAt, connection.server, asked, options)
  const mount = await mountIn(jsonClient(connection), question)
  process.stdout.write(printed({ ...explained, ...(mount && { mount }) }, question, options))
  return explained.allowed || options.output !== 'text' ? 0 : 1
}

function printed(explained: Explained, question: ResourceQuestion, { as, output }: ExplainOptions): string {
  if (output === 'json') return `${JSON.stringify(explained, undefined, 2)}\n`
  return output === 'yaml' ? explainYaml(explained) : explainText(explained, question, as)
}
