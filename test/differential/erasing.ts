import type { Outcome } from './play.ts'
import type { Step } from './step.ts'

/** A known difference, and how to remove it from both responses. */
export interface Known {
  readonly reason: string
  readonly erase: (outcome: Outcome, step: Step) => Outcome
}

type Fields = Readonly<Record<string, unknown>>

export const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const without = (value: unknown, ...names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields(value)).filter(([name]) => !names.includes(name)))

/** Replaces a text in the message of a Status and in its causes. */
export function rewritten(outcome: Outcome, from: RegExp, to: string): Outcome {
  const { message, details, ...body } = fields(outcome.body)
  if (typeof message !== 'string') return outcome
  const { causes, ...about } = fields(details)
  const told = Array.isArray(causes) ? { causes: causes.map(cause => String(cause).replace(from, to)) } : {}
  const more = details === undefined ? {} : { details: { ...about, ...told } }
  return { ...outcome, body: { ...body, message: message.replace(from, to), ...more } }
}

/** The message and the causes of a Status. */
export function textOf({ body }: Outcome): string {
  const { message, details } = fields(body)
  return [message, ...((fields(details).causes as readonly unknown[] | undefined) ?? [])].join(' ')
}

/** Treats Statuses that differ in code and reason as equal. */
export const taken = (outcome: Outcome, text: RegExp, to: string): Outcome =>
  outcome.status >= 400 && text.test(textOf(outcome)) ? { ...outcome, status: 0, body: to } : outcome

export const items = (outcome: Outcome, change: (item: unknown) => unknown): Outcome => {
  const body = fields(outcome.body)
  return Array.isArray(body.items)
    ? { ...outcome, body: { ...body, items: body.items.map(change) } }
    : outcome
}

/** Removes a cause that only one server returns, also from the message. */
export function withoutCause(outcome: Outcome, text: string): Outcome {
  const { details, ...body } = fields(outcome.body)
  const { causes, ...about } = fields(details)
  if (!Array.isArray(causes)) return outcome
  const others = causes.filter(cause => !String(cause).includes(text))
  return { ...outcome, body: { ...body, message: '<causes>', details: { ...about, causes: others } } }
}

/** Removes members with empty strings at any depth. */
export function withoutEmptyTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyTexts)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, field]) => field !== '')
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutEmptyTexts(field)]))
}
