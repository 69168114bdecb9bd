import { escapeMisleading } from '../../framework/json/unprintable.ts'

const escaped = (control: string): string => JSON.stringify(control).slice(1, -1)

/** A text of a server as a part of one line: control characters, also line ends, are escaped as in JSON. */
export const lineText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are replaced.
  escapeMisleading(text.replace(/[\u0000-\u001f]/g, escaped))

/** The beginning of a text of any origin, as a part of one line. */
export const shortLineText = (text: unknown): string => lineText(String(text).slice(0, 200))

/** Lines for a terminal: other control characters than line ends and tabs are escaped. JSON remains the same JSON. */
export const terminalText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are replaced.
  escapeMisleading(text.replace(/[\u0000-\u0008\u000b-\u001f]/g, escaped))

/** Writes lines with texts of servers to standard output. */
export function print(lines: string): void {
  process.stdout.write(terminalText(lines))
}

/** Writes one line to standard error. */
export function printError(line: string): void {
  process.stderr.write(`${lineText(line)}\n`)
}
