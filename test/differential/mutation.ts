import type { Random } from '../model/random.ts'

const wrong: readonly unknown[] = ['', 'A b', 'x', 0, -1, 7.5, true, null, [], {}, ['x'], { x: 1 }]

/** A copy of a body with one mistake: a member that is missing, of another type, duplicate or unknown. */
export function mutated(body: unknown, random: Random): unknown {
  const paths = pathsOf(body).slice(1)
  return paths.length === 0 ? body : changedAt(body, random.pick(paths), random)
}

type Path = readonly (string | number)[]

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const entries: readonly [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return [path, ...entries.flatMap(([key, member]) => pathsOf(member, [...path, key]))]
}

function changedAt(value: unknown, [key, ...rest]: Path, random: Random): unknown {
  if (Array.isArray(value)) {
    const at = Number(key)
    if (rest.length > 0) return value.with(at, changedAt(value[at], rest, random))
    return random.pick([value.toSpliced(at, 1), [...value, value[at]], value.with(at, random.pick(wrong))])
  }
  const { [String(key)]: member, ...others } = value as Readonly<Record<string, unknown>>
  if (rest.length > 0) return { ...(value as object), [String(key)]: changedAt(member, rest, random) }
  return random.pick<object>([
    others,
    { ...(value as object), [String(key)]: random.pick(wrong) },
    { ...(value as object), [String(key)]: random.pick(wrong) },
    { ...others, [`${key}X`]: member },
  ])
}
