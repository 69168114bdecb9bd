/** Fields that change with every write, and those that the items of some lists do not have. */
const noise = new Set([
  'metadata.resourceVersion',
  'metadata.managedFields',
  'metadata.generation',
  'apiVersion',
  'kind',
])

/** What differs between two objects, one line for each field: `spec.replicas: 1 → 2`. */
export function differencesOf(before: unknown, after: unknown, path = ''): readonly string[] {
  if (noise.has(path) || Object.is(before, after)) return []
  if (!isNested(before) || !isNested(after) || Array.isArray(before) !== Array.isArray(after))
    return shown(before) === shown(after) ? [] : [`${path}: ${shown(before)} → ${shown(after)}`]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap(key => differencesOf(own(before, key), own(after, key), pathTo(path, key, before)))
}

type Nested = Readonly<Record<string, unknown>>

const isNested = (value: unknown): value is Nested => typeof value === 'object' && value !== null

/** `toString` of an object without that member is not its member. */
const own = (value: Nested, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

const pathTo = (path: string, key: string, parent: Nested): string => {
  if (Array.isArray(parent)) return `${path}[${key}]`
  if (/[^\w-]/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

const longest = 200

function shown(value: unknown): string {
  const text = value === undefined ? '(none)' : JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
