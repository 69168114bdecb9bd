import { type Culprit, ViewMistake } from './viewfailure.ts'

const kinds = {
  apis: 'function',
  authorize: 'function',
  explain: 'function',
  guard: 'function',
  actAs: 'function',
  otherwise: 'string',
  http: 'function',
  admission: 'list',
  publisher: 'object',
  run: 'function',
} as const

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value)

const described = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? `${kindOf(value) === 'object' ? 'an' : 'a'} ${kindOf(value)}`
    : String(value)

/**
 * Throws a `ViewMistake` unless `made` has the members of a view. `name` is the name of the view, `build` the function that
 * returned it.
 */
export function checkDefinition(name: string, made: unknown, build?: Culprit): void {
  const mistake = (problem: string, culprit: unknown = build): ViewMistake =>
    new ViewMistake(
      `the view ${JSON.stringify(name)} ${problem}`,
      typeof culprit === 'function' ? (culprit as Culprit) : build,
    )
  if (made instanceof Promise) {
    made.catch(() => undefined)
    throw mistake('is built by an async function: load what it needs in run(), and build it without await')
  }
  if (kindOf(made) !== 'object' || made === null)
    throw mistake(`must be built by a function that returns its members, but it returned ${described(made)}`)
  const members = made as Readonly<Record<string, unknown>>
  for (const [member, value] of Object.entries(members)) {
    const kind = (kinds as Readonly<Record<string, string>>)[member]
    if (kind === undefined)
      throw mistake(`has the unknown member ${JSON.stringify(member)}: the members are ${allMembers}`, value)
    if (value !== undefined && kindOf(value) !== kind)
      throw mistake(
        `must have a${kind === 'object' ? 'n' : ''} ${kind} as ${JSON.stringify(member)}, but has ${described(value)}`,
      )
  }
  if (members.apis === undefined)
    throw mistake('has no "apis": add apis: () => apiSetOf([…]), which returns the resources that it serves')
  if (!['not found', 'forward', undefined].includes(members.otherwise as string | undefined))
    throw mistake(
      `must have "not found" or "forward" as "otherwise", but has ${described(members.otherwise)}`,
    )
}

const allMembers = Object.keys(kinds).join(', ')
