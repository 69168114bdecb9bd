import type { Input, Step } from './input.ts'

/** A random number below `limit`. */
export type Random = (limit: number) => number

/** Bytes of a body or a path after mutations. */
export const largest = { body: 64 * 1024, path: 12 * 1024 }

/** Texts that parsers, patterns and formats find hard. */
const hard = [
  ...['(a+)+$', '(a|aa)*b', '^(.*a){20}$', '[a-z]{1,500}', '\\p{L}*', '(((((a*)*)*)*)*)'],
  ...['1e999999', '9'.repeat(400), '0x', '1E-400', '-0', '1_000', '999999999999Ei', '1n'],
  ...['a in (b)', 'a notin (b,c)', '!a', 'a=b', 'metadata.name=a', ',,,,', '((((', '))))'],
  ...[
    '[1,2,3,4,5].all(x, [1,2,3,4,5].all(y, x < y))',
    '"a".matches("(a*)*")',
    'self',
    'object',
    '"".join([])',
  ],
  ...['&a [*a,*a]', '*a', '<<: *a', '!!binary aaaa', '---\n', '? ? ? ', '{a: {a: {a: ', '# x\n', '- - - '],
  ...[
    '.spec.parts[?(@.a==1)]',
    '..*',
    "['a']",
    '{.a}{.b}',
    '/data/a',
    '/metadata/annotations/~1',
    'f:a',
    'k:{"name":"a"}',
  ],
  ...[
    '$patch',
    '$setElementOrder/a',
    '$retainKeys',
    'x-kubernetes-validations',
    'default',
    'allOf',
    'pattern',
  ],
  ...['\u0000', '\ud800', '\u2028', '%25', '%', 'ß'.repeat(50), '\\', '"'],
]

type Json = unknown

const pick = <T>(from: readonly T[], random: Random): T => from[random(from.length)] as T
const times = (random: Random): number => 2 ** (1 + random(12))

/** The text with a piece repeated, removed, or replaced by a hard one. */
function mutateText(text: string, random: Random, limit: number): string {
  const from = random(text.length + 1)
  const to = Math.min(text.length, from + 2 ** random(10))
  const piece = [
    () => text.slice(from, to).repeat(times(random)),
    () => text.slice(from, to).repeat(times(random)),
    () => '',
    () => pick(hard, random),
    () => pick(hard, random).repeat(times(random)),
    () => String.fromCharCode(random(128)).repeat(times(random)),
  ]
  return (text.slice(0, from) + pick(piece, random)() + text.slice(to)).slice(0, limit)
}

/** The places of a value: an object or array, and a key of it. */
function placesIn(
  value: Json,
  found: [Record<string, Json>, string][] = [],
): [Record<string, Json>, string][] {
  if (typeof value !== 'object' || value === null) return found
  for (const key of Object.keys(value)) {
    found.push([value as Record<string, Json>, key])
    if (found.length < 3_000) placesIn((value as Record<string, Json>)[key], found)
  }
  return found
}

const nested = (value: Json, depth: number, key: string): Json => {
  let whole = value
  for (let i = 0; i < depth; i++) whole = key === '' ? [whole] : { [key]: whole }
  return whole
}

function wide(value: Json, count: number, key: string): Json {
  if (Array.isArray(value)) return Array.from({ length: count }, (_, i) => value[i % value.length])
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${key}${i}`, value]))
}

/** The JSON text with one value changed: nested, repeated, replaced, or moved. */
function mutateJson(text: string, random: Random): string {
  const whole: Json = JSON.parse(text)
  const places = placesIn(whole)
  if (places.length === 0) return mutateText(text, random, largest.body)
  const [holder, key] = pick(places, random)
  const value = holder[key]
  const changes = [
    () => nested(value, times(random) % 600, pick(['', 'a', key, 'properties', 'items'], random)),
    () => wide(value, times(random), key),
    () => wide(value, times(random), key),
    () => pick(hard, random),
    () => (typeof value === 'string' ? mutateText(value, random, largest.body) : value),
    () => (typeof value === 'string' ? mutateText(value, random, largest.body) : times(random)),
    () => structuredClone(pick(places, random)[0]),
    () => null,
  ]
  holder[key] = pick(changes, random)()
  if (random(4) === 0) holder[pick(hard, random)] = value
  return JSON.stringify(whole)
}

function mutateBody(text: string, random: Random): string {
  if (random(5) === 0) return mutateText(text, random, largest.body)
  try {
    return mutateJson(text, random)
  } catch {
    return mutateText(text, random, largest.body)
  }
}

/** The path with a changed value of its query. */
function mutatePath(path: string, random: Random): string {
  const [before = '', query = ''] = path.split('?')
  const parameters = [...new URLSearchParams(query)]
  const at = random(parameters.length)
  const changed = parameters.map(([name, value], i): [string, string] =>
    i === at ? [name, mutateText(value, random, largest.path)] : [name, value],
  )
  return `${before}?${new URLSearchParams(changed)}`
}

function mutateStep(step: Step, random: Random): Step {
  const isOfBody = step.body !== undefined && random(8) > 0
  if (!isOfBody) return step.path.includes('?') ? { ...step, path: mutatePath(step.path, random) } : step
  const body = mutateBody(step.body ?? '', random)
  return body.length > largest.body ? step : { ...step, body }
}

/** The input with changes in one of its steps. */
export function mutate({ name, steps }: Input, random: Random): Input {
  const at = random(steps.length)
  let changed = steps[at] as Step
  for (let changes = 1 + random(3); changes > 0; changes--) changed = mutateStep(changed, random)
  return { name, steps: steps.map((step, i) => (i === at ? changed : step)) }
}
