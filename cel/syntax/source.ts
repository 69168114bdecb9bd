import { codePoints } from '../../framework/json/values.ts'

/** An error in an expression, at an offset of the source. */
export interface Issue {
  readonly at: number
  readonly message: string
}

/** Thrown if an expression cannot be parsed. */
export class SyntaxProblem extends Error {
  readonly issues: readonly Issue[]
  constructor(issues: readonly Issue[]) {
    super(issues[0]?.message)
    this.issues = issues
  }
}

const maxSnippet = 16_384
const maxIssues = 100

/** All issues in the format of cel-go, in source order. */
export function issuesText(source: string, issues: readonly Issue[]): string {
  const sorted = [...issues].sort((a, b) => a.at - b.at)
  const shown = sorted.slice(0, maxIssues).map(issue => issueText(source, issue))
  return (
    sorted.length > maxIssues ? [...shown, `${sorted.length - maxIssues} more errors were truncated`] : shown
  ).join('\n')
}

/** The offset of issues about the whole expression. */
export const nowhere = -1

function issueText(source: string, { at, message }: Issue): string {
  if (at === nowhere) return `ERROR: <input>:-1:0: ${message}`
  const start = source.lastIndexOf('\n', at - 1) + 1
  const end = source.indexOf('\n', start)
  const line = source.slice(0, start).split('\n').length
  const snippet = source.slice(start, end === -1 ? source.length : end).replaceAll('\t', ' ')
  // cel-go reports column 0 for an empty expression.
  if (source === '') return `ERROR: <input>:1:0: ${message}`
  const before = source.slice(start, at)
  const text = `ERROR: <input>:${line}:${codePoints(before) + 1}: ${message}`
  if (snippet.length > maxSnippet) return text
  const marks = [...before].map(char => (isWide(char) ? '．' : '.')).join('')
  const [mark = ''] = snippet.slice(before.length)
  return `${text}\n | ${snippet}\n | ${marks}${mark !== '' && isWide(mark) ? '＾' : '^'}`
}

const isWide = (char: string): boolean => char.codePointAt(0) !== undefined && char > '\x7f'
