import { type Known, rewritten } from '../erasing.ts'
import type { Outcome } from '../play.ts'
import type { Step } from '../step.ts'
import { pastKnown } from './known.ts'

/** Differences through views, in addition to those everywhere. */
const known: readonly Known[] = [
  {
    reason: 'kcp writes through its views as itself, so managedFields differ',
    erase: outcome => ({ ...outcome, body: unowned(outcome.body) }),
  },
  {
    reason: 'our views speak protobuf as workspaces do: in errors and in what they offer',
    erase: (outcome, { about }) => {
      const told = rewritten(outcome, /, application\/vnd.kubernetes.protobuf$/, '')
      return about.includes(': protobuf for ') ? { ...told, type: '', body: '' } : told
    },
  },
  {
    reason: 'kcp’s view does not find the Scale of what an export defines',
    erase: (outcome, { path }) =>
      path.endsWith('/scale') ? { ...outcome, status: 0, body: '', type: '' } : outcome,
  },
  {
    reason: 'what the shard warns of is told through our views, too',
    erase: outcome =>
      outcome.warnings.includes('prefer a domain-qualified finalizer')
        ? { ...outcome, warnings: '' }
        : outcome,
  },
  {
    reason: 'an apply that tries to make an object is 201, as in workspaces; kcp’s view says 200',
    erase: (outcome, { about, path }) =>
      about.includes('apply') && path.includes('dryRun=All') && outcome.status === 201
        ? { ...outcome, status: 200 }
        : outcome,
  },
  {
    reason: 'kinds without columns show their age, as in workspaces',
    erase: (outcome, { about }) => (/as=Table/.test(about) ? { ...outcome, body: '' } : outcome),
  },
]

function unowned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unowned)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'managedFields')
  return Object.fromEntries(kept.map(([name, field]) => [name, unowned(field)]))
}

export const pastKnownOfViews = (outcome: Outcome, step: Step): Outcome =>
  known.reduce((rest, { erase }) => erase(rest, step), pastKnown(outcome, step))
