import type { Fairness } from './fairness.ts'
import type { Seats } from './seats.ts'

/** The requests of one user to one workspace through one view. */
export interface FlowReport {
  readonly priorityLevel: 'readOnly' | 'mutating' | 'longRunning'
  /** A user name; `cluster:<name>` for the service accounts of a logical cluster and the users of its issuers. */
  readonly user: string
  /** The view, its parameters and the logical cluster, joined by slashes. */
  readonly workspace: string
  readonly executing: number
  readonly waiting: number
  /** Requests that wait for their client without a seat. */
  readonly stalled: number
  readonly rejected: number
  /** RFC 3339. */
  readonly lastRejected?: string
}

/** `/debug/api_priority_and_fairness/flows`: the flows that have requests, and the latest without. */
export const flowReports = ({ reading, mutating, watching }: Fairness): readonly FlowReport[] => [
  ...reportsOf('readOnly', reading),
  ...reportsOf('mutating', mutating),
  ...reportsOf('longRunning', watching),
]

const reportsOf = (priorityLevel: FlowReport['priorityLevel'], seats: Seats): readonly FlowReport[] =>
  [...seats.flows.all()].map(
    ({ user, workspace, executing, waiting, stalled, rejected, lastRejected }): FlowReport => ({
      priorityLevel,
      user: user.name,
      workspace,
      executing,
      waiting,
      stalled,
      rejected,
      ...(rejected > 0 && { lastRejected: new Date(lastRejected).toISOString() }),
    }),
  )
