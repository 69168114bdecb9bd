/** Words that are no names in CEL. */
const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
)

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** The name of a field in expressions (chapter 40, rule 7.32); undefined for fields that expressions cannot name. */
export function escapedName(field: string): string | undefined {
  if (!/^[a-zA-Z_./-][\w./-]*$/.test(field)) return undefined
  if (reserved.has(field)) return `__${field}__`
  return field.replace(/__|[-./]/g, found => escapes[found] ?? found)
}
