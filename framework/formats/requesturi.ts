import { formatCheck } from './formats.ts'

/** What is wrong with a text as an absolute URI or path, in the words of Go's url.ParseRequestURI. */
export function requestUriError(text: string): string | undefined {
  if (formatCheck('uri')?.(text) === true) return undefined
  return `parse ${JSON.stringify(text)}: ${reason(text)}`
}

function reason(text: string): string {
  if (text === '') return 'empty url'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\0-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL'
  if (text.startsWith(':')) return 'missing protocol scheme'
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)?.[0]
  if (wrong !== undefined) return `invalid URL escape ${JSON.stringify(wrong)}`
  const port = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]*?(:[^\d/?#\]][^/?#\]]*)(?:[/?#]|$)/.exec(text)?.[1]
  if (port !== undefined) return `invalid port ${JSON.stringify(port)} after host`
  return 'invalid URI for request'
}
