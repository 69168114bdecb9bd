import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { ApiError } from '../model/api.ts'
import type { ShownCondition } from '../model/objects.ts'

export type Tone = 'good' | 'bad' | 'busy' | 'calm'

/** A short state with a color, which the text repeats. */
export const Pill = ({ tone, children }: { tone: Tone; children: ComponentChildren }): JSX.Element => (
  <span class={`pill ${tone}`}>{children}</span>
)

const goodPhases = new Set(['Ready', 'Bound', 'Accepted', 'True'])
const badPhases = new Set(['Unavailable', 'Rejected', 'False', 'Deleting', 'Terminating'])

export const toneOf = (phase: string): Tone =>
  goodPhases.has(phase) ? 'good' : badPhases.has(phase) ? 'bad' : phase === '' ? 'calm' : 'busy'

export const Phase = ({ phase }: { phase: string }): JSX.Element => (
  <Pill tone={toneOf(phase)}>{phase === '' ? 'Unknown' : phase}</Pill>
)

/** Why something is not shown, in the words of the server. */
export function Problem({ problem }: { problem: Error | undefined }): JSX.Element | null {
  if (problem === undefined) return null
  const status = problem instanceof ApiError ? problem.status : undefined
  const title =
    status === 403
      ? 'Not permitted'
      : status === 404
        ? 'Not found'
        : status === 0
          ? 'No connection'
          : 'Failed'
  return (
    <div class={status === 403 ? 'problem calm' : 'problem'} role="alert">
      <strong>{title}</strong>
      <p>{problem.message}</p>
    </div>
  )
}

/** A name, a path or a URL as code. A long one is broken after its punctuation. */
export const Code = ({ children }: { children: string }): JSX.Element => (
  <code>
    {children.split(/(?<=[.:/])/).map((part, i) => (
      <Fragment key={i}>
        {part}
        <wbr />
      </Fragment>
    ))}
  </code>
)

export const Empty = ({ children }: { children: ComponentChildren }): JSX.Element => (
  <p class="empty">{children}</p>
)

export const Loading = (): JSX.Element => (
  <p class="empty loading" role="status">
    Loading
  </p>
)

interface CardProps {
  readonly title: string
  readonly note?: ComponentChildren
  readonly children: ComponentChildren
}

export const Card = ({ title, note, children }: CardProps): JSX.Element => (
  <section class="card">
    <header>
      <h2>{title}</h2>
      {note !== undefined && <span class="note">{note}</span>}
    </header>
    {children}
  </section>
)

interface FieldsProps {
  readonly fields: readonly (readonly [string, ComponentChildren])[]
}

/** Names with their values. */
export const Fields = ({ fields }: FieldsProps): JSX.Element => (
  <dl class="fields">
    {fields
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

export const Conditions = ({ conditions }: { conditions: readonly ShownCondition[] }): JSX.Element => (
  <ul class="conditions">
    {conditions.map(({ type, status, reason = '', message = '' }) => (
      <li key={type}>
        <Pill tone={status === 'True' ? 'good' : status === 'False' ? 'bad' : 'busy'}>{type}</Pill>
        <span>{message === '' ? reason : message}</span>
      </li>
    ))}
  </ul>
)

interface FilterProps {
  readonly value: string
  readonly change: (value: string) => void
  readonly label: string
}

export const Filter = ({ value, change, label }: FilterProps): JSX.Element => (
  <input
    class="filter"
    data-filter
    type="search"
    placeholder={`${label}  ( / )`}
    aria-label={label}
    spellcheck={false}
    value={value}
    onInput={event => change(event.currentTarget.value)}
  />
)
