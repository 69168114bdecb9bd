import { jsonClient } from '../../framework/net/jsonclient.ts'
import { print, printError } from '../files/terminaltext.ts'
import { connectionOf } from '../flags/connection.ts'
import { askExplanation } from './asking.ts'
import { explainText, explainYaml } from './explaintext.ts'
import { mountIn } from './mountidentity.ts'
import type { Asked, Explained, ExplainOptions, ResourceQuestion } from './resourcequestion.ts'

/**
 * Requests an explanation from the server and prints it, after warnings on standard error. Returns the exit code: 1
 * when the action is denied, except for YAML output, which is for pipes. Throws `StartError` on invalid arguments.
 */
export async function explain(asked: Asked, options: ExplainOptions): Promise<number> {
  const connection = await connectionOf(options)
  const clientAt = (at: string) => jsonClient({ ...connection, server: at })
  const { server } = connection
  const { question, explained, warnings } = await askExplanation(clientAt, server, asked, options)
  for (const warning of warnings) printError(`Warning: ${warning}`)
  const mount = await mountIn(jsonClient(connection), question)
  print(printed({ ...explained, ...(mount && { mount }) }, question, options))
  return explained.allowed || options.output !== 'text' ? 0 : 1
}

function printed(explained: Explained, question: ResourceQuestion, { as, output }: ExplainOptions): string {
  if (output === 'json') return `${JSON.stringify(explained, undefined, 2)}\n`
  return output === 'yaml' ? explainYaml(explained) : explainText(explained, question, as)
}
