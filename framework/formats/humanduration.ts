const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

/** A duration in at most two units, as kubectl prints ages (`duration.HumanDuration`; rules.md 7.54). */
export function humanDuration(milliseconds: number): string {
  if (milliseconds <= -2 * second) return '<invalid>'
  const span = Math.max(0, milliseconds)
  if (span < 2 * minute) return `${Math.floor(span / second)}s`
  if (span < 10 * minute) return units(span, [minute, 'm'], [second, 's'])
  if (span < 3 * hour) return `${Math.floor(span / minute)}m`
  if (span < 8 * hour) return units(span, [hour, 'h'], [minute, 'm'])
  if (span < 2 * day) return `${Math.floor(span / hour)}h`
  if (span < 8 * day) return units(span, [day, 'd'], [hour, 'h'])
  if (span < 2 * year) return `${Math.floor(span / day)}d`
  if (span < 8 * year) return units(span, [year, 'y'], [day, 'd'])
  return `${Math.floor(span / year)}y`
}

type Unit = readonly [size: number, letter: string]

function units(span: number, [large, l]: Unit, [small, s]: Unit): string {
  const rest = Math.floor((span % large) / small)
  return `${Math.floor(span / large)}${l}${rest === 0 ? '' : `${rest}${s}`}`
}

/** The age of an RFC 3339 time; `<unknown>` if it is absent. */
export function since(time: string | undefined, now: Date): string {
  if (time === undefined || time === '') return '<unknown>'
  const then = Date.parse(time)
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now.getTime() - then)
}
