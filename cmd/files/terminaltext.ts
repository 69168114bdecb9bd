/** Characters that terminals execute, that end a line, and that change the direction of text. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

function escaped(character: string): string {
  const json = JSON.stringify(character).slice(1, -1)
  if (json !== character) return json
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A text of a server as a part of one line: unprintable characters, also line ends, are escaped as in JSON. */
export const lineText = (text: string): string => text.replace(unprintable, escaped)

/** Lines for a terminal: other unprintable characters than line ends and tabs are escaped. JSON remains the same JSON. */
export const terminalText = (text: string): string =>
  text.replace(unprintable, character =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )

/** Writes lines with texts of servers to standard output. */
export function print(lines: string): void {
  process.stdout.write(terminalText(lines))
}

/** Writes one line to standard error. */
export function printError(line: string): void {
  process.stderr.write(`${lineText(line)}\n`)
}
