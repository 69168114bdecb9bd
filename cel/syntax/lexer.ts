import type { Issue } from './source.ts'

export type TokenType =
  | 'int'
  | 'uint'
  | 'float'
  | 'string'
  | 'bytes'
  | 'name'
  | 'quoted name'
  /** Operators, brackets, and the words true, false, null and in: the type is the text. */
  | 'symbol'
  | 'end'

export interface Token {
  readonly type: TokenType
  readonly text: string
  readonly at: number
}

const escapeSequence = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[0-3][0-7][0-7]|[xX][\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})`
const text = [
  String.raw`"""(?:${escapeSequence}|[^\\])*?"""`,
  String.raw`'''(?:${escapeSequence}|[^\\])*?'''`,
  String.raw`"(?:${escapeSequence}|[^\\"\n\r])*"`,
  String.raw`'(?:${escapeSequence}|[^\\'\n\r])*'`,
  String.raw`[rR]"""[\s\S]*?"""`,
  String.raw`[rR]'''[\s\S]*?'''`,
  String.raw`[rR]"[^"\n\r]*"`,
  String.raw`[rR]'[^'\n\r]*'`,
].join('|')

const patterns: readonly (readonly [TokenType | 'blank', string])[] = [
  ['blank', String.raw`[\t \r\n\f]+|//[^\n]*`],
  ['float', String.raw`\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?`],
  ['uint', String.raw`(?:0x[\da-fA-F]+|\d+)[uU]`],
  ['int', String.raw`0x[\da-fA-F]+|\d+`],
  ['bytes', `[bB](?:${text})`],
  ['string', text],
  ['symbol', String.raw`==|!=|<=|>=|&&|\|\||[<>\[\]{}().,!?:+*/%-]|(?:true|false|null|in)(?![A-Za-z0-9_])`],
  ['name', '[A-Za-z_][A-Za-z0-9_]*'],
  ['quoted name', '`[A-Za-z0-9_./ -]+`'],
]

const groups = patterns.map(([, pattern]) => `(${pattern})`).join('|')

/** The tokens of an expression, the last of them its end; what cannot be read is skipped and told in `issues`. */
export function tokensOf(source: string, issues: Issue[]): readonly Token[] {
  const tokens: Token[] = []
  const pattern = new RegExp(groups, 'y')
  let at = 0
  while (at < source.length) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match === null) {
      const skipped = unreadable(source, at)
      issues.push({ at, message: `Syntax error: token recognition error at: '${spoken(skipped)}'` })
      at += skipped.length
      continue
    }
    const type = patterns[match.slice(1).findIndex(group => group !== undefined)]?.[0] ?? 'blank'
    if (type !== 'blank') tokens.push({ type, text: match[0], at })
    at += match[0].length
  }
  return [...tokens, { type: 'end', text: '<EOF>', at: source.length }]
}

/** A text that does not end is skipped up to where it could have gone no further; anything else is one character. */
function unreadable(source: string, at: number): string {
  const open = /^[bB]?[rR]?(["'])/.exec(source.slice(at, at + 3))
  // Half of ==, && or || takes the character along that is not its other half.
  if (open === null) return /^(?:[=&|].?|.)/su.exec(source.slice(at, at + 3))?.[0] ?? ''
  const rest = source.slice(at + open[0].length)
  const body = new RegExp(`^(?:${escapeSequence}|[^\\\\${open[1]}\\n\\r])*\\\\?[^\\n\\r]?`).exec(rest)
  return open[0] + (body?.[0] ?? '')
}

const spoken = (skipped: string): string =>
  skipped.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
