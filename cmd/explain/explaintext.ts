import type { ExplainedMissing, ExplainedStep } from '../../authz/index.ts'
import { formatYaml } from '../../framework/wire/yaml.ts'
import { lineText } from '../files/terminaltext.ts'
import { mountText } from './mountidentity.ts'
import type { Explained, ResourceQuestion } from './resourcequestion.ts'

/** The output as text. */
export function explainText(
  explained: Explained,
  { words }: ResourceQuestion,
  as: string | undefined,
): string {
  const { allowed, reason, explanation, mount } = explained
  const behind = mount === undefined ? '' : mountText(mount)
  const who = as === undefined ? 'You' : `"${as}"`
  const verdict = `${allowed ? 'Yes' : 'No'}: ${who} ${allowed ? 'may' : 'may not'} ${words}.\n`
  if (explanation === undefined)
    return `${verdict}The server returns no explanation: ${lineText(reason)}\n${behind}`
  const { steps, missing, limited } = explanation
  return [
    verdict,
    stepsText(steps),
    limited ? limitedText : '',
    missing.map(missingText).join(''),
    behind,
  ].join('')
}

const limitedText =
  '\nThe decisions are shown to users who may create subjectaccessreviews in this workspace.\n'

function stepsText(steps: readonly ExplainedStep[]): string {
  if (steps.length === 0) return ''
  const names = steps.map(step => lineText(nameOf(step)))
  const width = Math.max(...names.map(name => name.length))
  const lines = steps.map(
    (step, i) => `  ${names[i]?.padEnd(width)}  ${decisionText(step)}${whereOf(step)}\n`,
  )
  return `\nDecisions:\n${lines.join('')}`
}

const isOfView = ({ authorizer }: ExplainedStep): boolean => authorizer.startsWith('virtual.')

/** The steps of a logical cluster are indented below the step of the view that has its name. */
const nameOf = (step: ExplainedStep): string =>
  isOfView(step) || step.workspace === undefined ? step.authorizer : `  ${step.authorizer}`

const whereOf = (step: ExplainedStep): string =>
  isOfView(step) && step.workspace !== undefined ? `, in ${lineText(step.workspace)}` : ''

const words = {
  Allowed: 'allowed',
  Denied: 'denied',
  NoOpinion: 'did not allow',
  Withheld: 'not shown',
} as const

/** A step that delegated to the next step is printed as passed. */
function decisionText({ decision, reason }: ExplainedStep): string {
  const passed = /^delegating due to (.*)$/s.exec(reason)
  if (passed !== null) return `passed: ${lineText(passed[1] ?? '')}`
  const said = words[decision]
  // Kubernetes appends a colon even without a reason.
  const why = lineText(reason.replace(/: $/, ''))
  return why === '' ? said : `${said}: ${why}`
}

function missingText({ authorizer, workspace, otherWorkspace, why, grant }: ExplainedMissing): string {
  const where = otherWorkspace && workspace !== '' ? `, in the workspace ${lineText(workspace)}` : ''
  const needed = grant.length === 0 ? '' : `  These objects grant it:\n${indented(documents(grant), '    ')}`
  return `\nMissing (${lineText(authorizer)}${where}):\n  ${lineText(why)}\n${needed}`
}

/** The objects to apply in the workspace of the request. Objects for other workspaces are comments. */
export function explainYaml({ allowed, explanation }: Explained): string {
  if (allowed) return '# Nothing is missing.\n'
  if (explanation === undefined) return '# The server returns no explanation.\n'
  const { missing } = explanation
  const own = missing.filter(({ otherWorkspace }) => otherWorkspace !== true).flatMap(({ grant }) => grant)
  const notes = missing
    .filter(({ grant, otherWorkspace }) => grant.length === 0 || otherWorkspace === true)
    .map(({ workspace, why, grant }) => {
      const there = grant.length === 0 ? '' : `Apply in ${workspace}:\n${documents(grant)}`
      return indented(`${lineText(why)}\n${there}`, '# ')
    })
  if (missing.length === 0) return '# You have no permission to see what is missing.\n'
  return [...notes, own.length === 0 ? '' : documents(own)].join('')
}

const documents = (objects: readonly object[]): string => objects.map(formatYaml).join('---\n')

const indented = (text: string, by: string): string => text.trimEnd().replace(/^/gm, by).concat('\n')
