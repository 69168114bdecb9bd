/** The texts of a header `Warning`: `299 - "text"`, several with commas between them (RFC 7234 section 5.5). */
export const warningsIn = (header: string | readonly string[] = ''): readonly string[] =>
  [
    ...[header]
      .flat()
      .join(', ')
      .matchAll(/299 - "((?:[^"\\]|\\.)*)"/g),
  ].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
