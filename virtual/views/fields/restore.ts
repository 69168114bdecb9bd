import type { FieldStep } from '../../../framework/lens/fieldcutter.ts'
import { type FieldSteps, hasPath } from './fieldsteps.ts'
import { isFields, sameValue } from './values.ts'

/** The states of a value in a write. */
interface States {
  /** Objects that this write has made. */
  readonly made: WeakSet<object>
  /** What is stored next. */
  readonly next: unknown
  /** What the client sent. */
  readonly sent: unknown
  /** What the client saw. */
  readonly shown: unknown
  readonly stored: unknown
}

/** Thrown for a write that would lose or move hidden fields. `field` is the path of a list or field. */
export class HiddenFieldsLost extends Error {
  readonly field: string
  constructor(field: string) {
    super(field)
    this.field = field
  }
}

/**
 * The value with what is stored at hidden paths. Items of lists with hidden fields cannot be told apart after a change:
 * such a list must be sent as it was shown, else it throws `HiddenFieldsLost`.
 */
export function withHidden(
  sent: unknown,
  shown: unknown,
  stored: unknown,
  paths: readonly FieldSteps[],
): unknown {
  const made = new WeakSet<object>()
  return paths.reduce((next, { steps }) => restored({ made, next, sent, shown, stored }, steps, ''), sent)
}

function restored(states: States, [step, ...rest]: readonly FieldStep[], at: string): unknown {
  const { made, next, sent, shown, stored } = states
  if (step === undefined || !hasPath(stored, [step, ...rest])) return next
  if (step === 'each') {
    if (!sameValue(sent, shown)) throw new HiddenFieldsLost(at)
    return eachRestored(states, rest, at)
  }
  if (next !== undefined && next !== null && !isFields(next)) throw new HiddenFieldsLost(at)
  const { key } = step
  const own = isFields(next) ? next : {}
  const child = {
    made,
    next: partOf(own, key),
    sent: partOf(sent, key),
    shown: partOf(shown, key),
    stored: partOf(stored, key),
  }
  const value = rest.length === 0 ? child.stored : restored(child, rest, at === '' ? key : `${at}.${key}`)
  return withMember(own, key, value, made)
}

/** The object with the member. One that was made in this write is not copied again. */
function withMember(
  own: Readonly<Record<string, unknown>>,
  key: string,
  value: unknown,
  made: WeakSet<object>,
): unknown {
  if (made.has(own))
    return Object.defineProperty(own, key, { value, writable: true, enumerable: true, configurable: true })
  const copy = { ...own, [key]: value }
  made.add(copy)
  return copy
}

function eachRestored(
  { made, next, sent, shown, stored }: States,
  rest: readonly FieldStep[],
  at: string,
): unknown {
  const part = (key: string | number): unknown =>
    restored(
      {
        made,
        next: partOf(next, key),
        sent: partOf(sent, key),
        shown: partOf(shown, key),
        stored: partOf(stored, key),
      },
      rest,
      `${at}[${key}]`,
    )
  if (Array.isArray(stored)) return stored.map((_, i) => part(i))
  return Object.fromEntries(Object.keys(stored as object).map(key => [key, part(key)]))
}

function partOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)]
  return isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
